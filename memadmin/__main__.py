import sys

from memadmin.cli import main

sys.exit(main())
