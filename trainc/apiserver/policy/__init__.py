"""Admission policies (ValidatingAdmissionPolicy), judged as the API server judges them: from documents to findings."""
