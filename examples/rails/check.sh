#!/bin/sh
# Whether each number that was sent was delivered once, in order, and within 5 s.
cat client.stream.out server.stream.out | awk '
  function fail(text) { print text; failed = 1; exit 1 }
  $1 == "sent" { sent[$2] = $3; last = $2 }
  $1 == "delivered" {
    if ($2 in delivered) fail("delivered twice: " $2)
    if ($2 < highest) fail("delivered after " highest ": " $2)
    if ($3 - sent[$2] > 5) fail("delivered " $3 - sent[$2] " s after it was sent: " $2)
    delivered[$2] = 1; highest = $2
  }
  END { if (!failed) for (n = 0; n <= last; ++n) if (!(n in delivered)) fail("lost: " n) }'
