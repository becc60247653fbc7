-- Brings entries of comments of one product in, all or none: Redis runs a script as a whole.
--
-- KEYS: the product's state and entries, and the set of products; in a cluster, where that has
-- another slot, a key that never exists (see keys.go). ARGV: the prefix of the product's other keys,
-- the seconds for which a deleted comment is remembered, how the set lists the product (empty in a
-- cluster), and for each entry its position, its time in milliseconds, its cell (empty if the comment
-- is not there any more) and what it follows.

local state, entries, products = KEYS[1], KEYS[2], KEYS[3]
local prefix, remember, listed = ARGV[1], ARGV[2], ARGV[3]

-- later compares bytes. Lua's own comparison of strings depends on the server's locale, in some of
-- which "~" sorts before digits.
local function later(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then
      return x > y
    end
  end
  return #a > #b
end

local function leave(cell, position)
  redis.call('ZREM', prefix .. cell, position)
  if redis.call('HINCRBY', state, cell, -1) == 0 then
    redis.call('HDEL', state, cell)
  end
end

local function enter(cell, position, time)
  redis.call('ZADD', prefix .. cell, time, position)
  redis.call('HINCRBY', state, cell, 1)
end

local moved = false
for i = 4, #ARGV, 4 do
  local position, time, cell, follows = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local gone = prefix .. 'gone:' .. position
  local was, last = '', nil
  local entry = redis.call('HGET', entries, position)
  if entry then
    was, last = string.match(entry, '^(.-)|(.*)$')
  else
    last = redis.call('GET', gone)
  end
  if not last or later(follows, last) then
    if was ~= cell then
      moved = true
      if was ~= '' then
        leave(was, position)
      end
      if cell ~= '' then
        enter(cell, position, time)
      end
    end
    if cell == '' then
      redis.call('HDEL', entries, position)
      redis.call('SET', gone, follows, 'EX', remember)
    else
      redis.call('HSET', entries, position, cell .. '|' .. follows)
      if last and not entry then
        redis.call('DEL', gone)
      end
    end
  end
end

-- A version never comes back, even if the product's last comment goes and another one comes.
if moved then
  local now = redis.call('TIME')
  local version = math.max(now[1] * 1000000 + now[2], (tonumber(redis.call('HGET', state, 'version')) or 0) + 1)
  redis.call('HSET', state, 'version', string.format('%.0f', version))
  local left = redis.call('HLEN', state) > 1
  if not left then
    redis.call('DEL', state)
  end
  if listed ~= '' then
    redis.call(left and 'SADD' or 'SREM', products, listed)
  end
end
return 1
