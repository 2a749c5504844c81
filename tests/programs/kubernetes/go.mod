module programs/kubernetes

go 1.26.0
