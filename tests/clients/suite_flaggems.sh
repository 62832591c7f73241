# A part of the tests of FlagGems' operators, with the newest Triton that its version 3.0 knows how to launch (3.3).
. "$WARPBEAM_CLIENTS/python/environment.sh"
python_suite flaggems "https://github.com/FlagOpen/FlagGems v3.0" torch==2.7.1 numpy==1.26.4 scipy==1.15.3 PyYAML==6.0.3 packaging==26.0 setuptools==80.9.0
