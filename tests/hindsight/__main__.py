import argparse
import sys

from tests.hindsight.runner import CannotStart, Home, down, up


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hindsight", description="A real Hindsight server for tests.")
    parser.add_argument("what", choices=["up", "down", "status"])
    what = parser.parse_args().what
    home = Home.from_environment()
    try:
        if what == "up":
            print(f"Hindsight at {up(home, install=True, keep=True).url}, state in {home.folder}")
        elif what == "down":
            down(home)
        else:
            running = home.running()
            print(f"running at {running.url}" if running else "not running")
            return 0 if running else 1
    except CannotStart as error:
        print(f"cannot start: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
