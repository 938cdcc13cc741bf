import sys

from banks.demo.process import main

sys.exit(main())
