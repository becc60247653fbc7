package command

import _ "time/tzdata" // Windows has no time zones that import --time-zone could name
