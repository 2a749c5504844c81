"""What a server says of one object.

An object, and what is known of its server, come in; a verdict goes out: what would be stored, or every fault with its
place. It reads no file, knows no rule of trainc's own, and never asks a server.
"""
