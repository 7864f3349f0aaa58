local clock, margin = redis.call('TIME'), 1
-- Charges several limits of one slot, all or none, at the time of the server.
--
-- KEYS: a key for each limit. ARGV[1]: charge, look, refund or reset. Then for each limit:
-- algorithm (gcra, fixed, sliding), quota, window in microseconds or `month`, burst, cost.
-- Returns wait, remaining and reset for each limit, in microseconds; wait is 0 if the cost is there
-- and -1 if it never is. A charge is done if and only if each wait is 0. `src/script.rs` has the rest.
--
-- Or many checks, one after another: `batch`, the number of rules, algorithm, quota, window and burst
-- of each rule; then for each key what to do (`and` if the key belongs to the check before), the number
-- of its rule, and the cost.
--
-- The body runs anew at each call, and each function and table is made anew: so there are few, and
-- quotients are `(a - a % b) / b` instead of calls. All numbers are integers below 2^53.
--
-- Each algorithm takes the value of a key, its rule, an amount of at most the burst, and what to add to
-- the count. It returns wait for the amount, remaining and reset; then, as they are after the
-- addition, the value (nil if the key is full), its end, remaining and reset.

local now = clock[1] * 1000000 + clock[2]

-- Returns the duration by which a state is further ahead than a burst, since the clock went back or
-- the rule has changed, and the ticks of 1/128 microsecond that it is ahead beyond that.
local function near(whole, part, limit)
  local span = limit + 127
  local lag = whole - now - (span - span % 128) / 128
  if lag < 0 then lag = 0 end
  return lag, (whole - now - lag) * 128 + part
end

-- The value is the whole microseconds of the theoretical arrival time, and 1/128 beyond.
local function gcra(value, quota, window, burst, amount, add)
  local ticks = window * 128 + quota - 1
  local interval = (ticks - ticks % quota) / quota
  local limit = burst * interval
  local whole, part = string.match(value, '^gcra (%d+) (%d+)$')
  whole, part = tonumber(whole), tonumber(part)
  if not whole or whole < now then whole, part = now, 0 end

  local lag, ahead = near(whole, part, limit)
  local over = ahead - limit + amount * interval + 127
  local wait = 0
  if over > 127 then wait = lag + (over - over % 128) / 128 end
  local left, up = limit - ahead, ahead + 127
  if left < 0 then left = 0 end
  local remaining, reset = (left - left % interval) / interval, lag + (up - up % 128) / 128

  -- The arrival time moves, at most back to now.
  ticks = part + add * interval
  part = ticks % 128
  whole = whole + (ticks - part) / 128
  if whole < now then whole, part = now, 0 end
  if whole == now and part == 0 then return wait, remaining, reset, nil, now, burst, 0 end
  lag, ahead = near(whole, part, limit)
  left, up = limit - ahead, ahead + 127
  if left < 0 then left = 0 end
  -- In two parts, since `%d` is faster than `%.0f` and may have only 32 bits.
  local low = whole % 1000000000
  local text = string.format('gcra %d%09d %d', (whole - low) / 1000000000, low, part)
  return wait, remaining, reset, text, whole + 1,
    (left - left % interval) / interval, lag + (up - up % 128) / 128
end

-- Returns the first day of the month of a day; both since 1970. Years begin with March.
local function month_day(day)
  local floor = math.floor
  local of_era = (day + 719468) % 146097
  local leaps = floor(of_era / 1460) - floor(of_era / 36524) + floor(of_era / 146096)
  local year = floor((of_era - leaps) / 365)
  local of_year = of_era - year * 365 - floor(year / 4) + floor(year / 100)
  local month = floor((of_year * 5 + 2) / 153)
  return day - of_year + floor((month * 153 + 2) / 5)
end

-- The value is the end of the window, and the count.
local function fixed(value, quota, window, _, amount, add)
  local till, count = string.match(value, '^fixed (%d+) (%d+)$')
  till, count = tonumber(till), tonumber(count)
  if not till or till <= now then
    count = 0
    if window == 'month' then
      -- The 31st day after the first of a month is in the next one.
      till = month_day(month_day(math.floor(now / 86400000000)) + 31) * 86400000000
    else
      till = now - now % window + window
    end
  end
  local left, after = till - now, math.max(count + add, 0)
  local text = after > 0 and string.format('fixed %.0f %.0f', till, after) or nil
  return count + amount > quota and left or 0, math.max(quota - count, 0), count > 0 and left or 0,
    text, till, math.max(quota - after, 0), after > 0 and left or 0
end

-- The value is the start of the window, the count before it, and its own.
local function sliding(value, quota, window, _, amount, add)
  -- Returns quotient and remainder of a * b / c, where a < 2^42, b and c < 2^45. Where the product may
  -- reach 2^53: a long division by digits of 7 bits, which keeps each number below it.
  local function scaled(a, b, c)
    local product = a * b
    if product < 2 ^ 52 then return (product - product % c) / c, product % c end
    local quotient, rest, unit = 0, 0, 2 ^ 35
    while unit >= 1 do
      local digit = math.floor(a / unit)
      a = a - digit * unit
      local part = rest * 128 + digit * b
      rest = part % c
      quotient, unit = quotient * 128 + (part - rest) / c, unit / 128
    end
    return quotient, rest
  end

  local current = now - now % window
  local start, before, count = string.match(value, '^sliding (%d+) (%d+) (%d+)$')
  start, before, count = tonumber(start), tonumber(before), tonumber(count)
  if not start or start < current then
    before, count = start and start + window == current and count or 0, 0
    start = current
  end

  -- Returns the part of a window that passes until a count weighs at most `room`.
  local function passed(weighed, room)
    if weighed <= room then return 0 end
    local part = scaled(room, window, weighed)
    return window - part
  end

  -- Returns the wait for a cost, and what remains.
  local function level(cost)
    local used, rest = scaled(before, window - math.max(now - start, 0), window)
    used = used + count
    if rest > 0 then used = used + 1 end
    local room, remaining = quota - cost, math.max(quota - used, 0)
    if used <= room then return 0, remaining end
    if count <= room then return start + passed(before, room - count) - now, remaining end
    return start + window + passed(count, room) - now, remaining
  end

  local wait, remaining = level(amount)
  local reset = level(quota)
  local rest = math.max(-add - count, 0)
  before, count = math.max(before - rest, 0), math.max(count + add, 0)
  local text = nil
  if before + count > 0 then text = string.format('sliding %.0f %.0f %.0f', start, before, count) end
  local after_reset, after = level(quota)
  return wait, remaining, reset, text, start + 2 * window, after, after_reset
end

-- Writes value and time to live with one command: no end of a process leaves one without the other.
local function write(key, value, till)
  if value == '' then return redis.call('DEL', key) end
  local left = till - now + 999
  redis.call('PSETEX', key, (left - left % 1000) / 1000 + margin, value)
end

local algorithms = { gcra = gcra, fixed = fixed, sliding = sliding }
local signs = { charge = 1, look = 0, refund = -1, reset = 0 }

-- Returns the rule at a place of the arguments.
local function rule_at(at)
  local name, quota, window = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
  local burst, algorithm = quota, algorithms[name]
  if algorithm == gcra then burst = tonumber(ARGV[at + 3]) end
  if window ~= 'month' then window = tonumber(window) end
  if not (algorithm and quota and window and burst) then
    error('expected algorithm, quota, window, burst and cost for each key')
  end
  return { algorithm, quota, window, burst }
end

-- The rule and the cost of each key; and the value of each name, as it is or will be.
local rules, costs, values = {}, {}, {}
-- What changes, in this order, and the end of each new value.
local changed, ends = {}, {}
local answer, seen = {}, {}
-- What is so for each key if its check is done.
local texts, tills, lefts, resets = {}, {}, {}, {}

-- Does one check over a part of the keys. Nothing is written yet.
local function check(mode, first, last)
  local sign, is_done = signs[mode], mode ~= 'look'
  if not sign then error('expected charge, look, refund or reset') end
  for at = first, last do
    local key, rule, cost = KEYS[at], rules[at], costs[at]
    if seen[key] == first then error('expected each key once') end
    seen[key] = first
    local burst = rule[4]
    local amount = math.min(cost, burst)
    local wait, remaining, reset, text, till, left, then_reset =
      rule[1](values[key], rule[2], rule[3], burst, amount, sign * amount)
    if mode == 'reset' then text, left, then_reset = nil, burst, 0 end
    if cost == 0 or sign < 0 or mode == 'reset' then wait = 0 end
    if cost > burst and sign >= 0 and mode ~= 'reset' then wait = -1 end
    is_done = is_done and wait == 0
    answer[at * 3 - 2], answer[at * 3 - 1], answer[at * 3] = wait, remaining, reset
    texts[at], tills[at], lefts[at], resets[at] = text or '', till, left, then_reset
  end
  if not is_done then return end
  for at = first, last do
    if costs[at] > 0 or mode == 'reset' then
      local key = KEYS[at]
      if not ends[key] then changed[#changed + 1] = key end
      values[key], ends[key] = texts[at], tills[at]
      answer[at * 3 - 1], answer[at * 3] = lefts[at], resets[at]
    end
  end
end

local function one()
  for at, key in ipairs(KEYS) do
    -- A value of another algorithm is no state: its rule is not in force any more.
    values[key] = redis.call('GET', key) or ''
    rules[at], costs[at] = rule_at(at * 5 - 3), tonumber(ARGV[at * 5 + 1])
    if not costs[at] then
      error('expected algorithm, quota, window, burst and cost for each key')
    end
  end
  check(ARGV[1], 1, #KEYS)
end

local function batch()
  local terms, place = {}, 3
  for number = 1, tonumber(ARGV[2]) do
    terms[number], place = rule_at(place), place + 4
  end
  -- A key of another type is no state too: one bad key must not end the checks of others.
  local found = redis.call('MGET', unpack(KEYS))
  for at, key in ipairs(KEYS) do
    local number, cost = tonumber(ARGV[place + at * 3 - 2]), tonumber(ARGV[place + at * 3 - 1])
    values[key], rules[at], costs[at] = found[at] or '', terms[number], cost
    if not (rules[at] and cost) then error('expected what to do, a rule and a cost for each key') end
  end
  local first, mode = 1, ARGV[place]
  for at = 2, #KEYS do
    local word = ARGV[place + at * 3 - 3]
    if word ~= 'and' then
      check(mode, first, at - 1)
      first, mode = at, word
    end
  end
  check(mode, first, #KEYS)
end

if ARGV[1] == 'batch' then batch() else one() end
for _, key in ipairs(changed) do write(key, values[key], ends[key]) end
return answer
