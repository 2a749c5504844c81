module programs/etcd

go 1.26.0
