// Everything here makes pages nicer; none of it is needed to work.
import "./keys.js";
import "./bulk.js";
import "./cards.js";
import "./edit.js";
import "./facts.js";
import "./near.js";
import "./say.js";
import "./stale.js";
import "./toast.js";
import "./upload.js";
