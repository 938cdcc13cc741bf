"""What people do to the mental models of a bank. Each act is a row of the write log; nothing is sent from here."""
