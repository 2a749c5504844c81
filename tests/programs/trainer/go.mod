module programs/trainer

go 1.26.0
