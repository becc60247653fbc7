-- Changes what a client owes: after that time, in microseconds, its whole burst is available again. The key holds that time, and
-- when it was so by this server's clock. A clock that is set back makes nobody wait longer. A key of another type, or with numbers
-- that are too large for Lua, is none.
-- Arguments: the cost, the window of the policy, the longest time to owe, 1 to change in any case.
local kept = redis.pcall('GET', KEYS[1])
if type(kept) == 'table' then
  if not string.find(kept.err, 'WRONGTYPE', 1, true) then
    return kept
  end
  kept = false
end
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local cost, window, longest = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local owed, ahead = 0, false
if kept then
  local was, at = string.match(kept, '^(%d+) (%d+)$')
  if was and #was < 16 and #at < 18 then
    owed, ahead = math.max(0, was - math.max(0, now - at)), tonumber(at) > now
  end
end
local function keep()
  redis.call('SET', KEYS[1], string.format('%.0f %.0f', owed, now), 'PX', math.ceil(owed / 1000))
end
if ARGV[4] ~= '1' and owed + math.min(cost, window) > window then
  if ahead then
    keep() -- the clock was set back: from now on, time counts again
  end
  return {0, owed}
end
local after = owed + cost
if ARGV[4] == '1' and cost > 0 then
  after = math.min(after, math.max(owed, longest))
end
owed = math.max(0, after)
if owed > 0 then
  keep()
else
  redis.call('DEL', KEYS[1])
end
return {1, owed}
