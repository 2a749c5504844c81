"""What `trainc lsp` answers to an editor; `server.py` speaks the protocol, every other page knows one kind of question."""
