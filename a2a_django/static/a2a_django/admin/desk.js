// The operator's desk: what its pages do besides being pages. Without this script they still work.
"use strict";
