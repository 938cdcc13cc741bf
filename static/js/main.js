// Everything here makes pages nicer; none of it is needed to work.
