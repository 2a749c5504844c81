"""Every recorded verdict on JobSets and PodGroups: stage, messages, patch, stored object."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from typing import Any

import pytest
import yaml

from trainc.model.tree import plain, stamp
from trainc.schema.profile import Profile
from trainc.schema.quantity import QuantityError, parse
from trainc.schema.table import Table, load
from trainc.schema.verdict import Verdict, verdict
