"""One server's verdict on one object: schema tables, the walker over them, CEL rules and admission webhooks."""
