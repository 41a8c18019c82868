module sbx

go 1.26

