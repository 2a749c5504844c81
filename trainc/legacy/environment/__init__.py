"""What the processes of older jobs see: the variables of their operators, with the hosts a JobSet gives them."""
