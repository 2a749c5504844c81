"""Bundle -> Findings: will the servers take these pods, and will the pods find each other and run?"""
