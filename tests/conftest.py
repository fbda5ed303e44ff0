"""What all tests share: the option that rewrites expected texts, and a cache that is not the user's."""

import os
import tempfile

import pytest

# Before anything of bglang runs, also in the workers of pytest-xdist: one cache per user for all test runs, so that
# grammar tables and kernels are made once.
os.environ.setdefault("BGLANG_CACHE", os.path.join(tempfile.gettempdir(), f"bglang-tests-{os.getuid()}"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the expected texts anew instead of comparing")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))
