local clock, margin = redis.call('TIME'), 1
-- Charges limits of one slot at the time of the server: checks one after another, each all or none.
--
-- ARGV: the number of rules; algorithm (gcra, fixed, sliding), quota, window in microseconds or `month`,
-- and burst of each rule; then for each of KEYS what to do, the number of its rule, and the cost. What
-- to do is charge, look, refund or reset, or `and` if the key belongs to the check before; with
-- `refund 1800000000000000`, nothing is done from that time on.
-- Returns wait, remaining and reset for each key, in microseconds, then the time; wait is 0 if the cost is
-- there and -1 if it never is. `src/script.rs` has the rest.
--
-- The body runs anew at each call, and each function and table is made anew: so there are few, a lone
-- check makes hardly any, and quotients are `(a - a % b) / b` instead of calls. `+ 0` makes a number of a
-- text, and an error of anything else. All numbers are integers below 2^53.
--
-- Each algorithm takes the value of a key, its rule, an amount of at most the burst, and what to add to
-- the count; a charge that must wait adds nothing. It returns wait for the amount, then, as they are
-- after the addition, remaining, reset, and if there was one the value ('' if the key is full) and its end.

local keys, args, call = KEYS, ARGV, redis.call
local now = clock[1] * 1000000 + clock[2]

-- The value is the whole microseconds of the theoretical arrival time, and 1/128 beyond.
local function gcra(value, rule, amount, add)
  local interval, limit, most = rule[5], rule[6], rule[7]
  local whole, part, kind = now, 0
  if value and #value == 17 then
    kind, whole, part = struct.unpack('<Bdd', value)
    if kind ~= 103 or whole < now then whole, part = now, 0 end
  end
  -- The duration by which the state is further ahead than a burst, since the clock went back or the
  -- rule has changed, and the ticks of 1/128 microsecond that it is ahead beyond that.
  local lag = whole - now - most
  if lag < 0 then lag = 0 end
  local ahead = (whole - now - lag) * 128 + part
  local wait, after, text = 0, ahead + amount * interval
  if after > limit then
    local over = after - limit + 127
    wait = lag + (over - over % 128) / 128
  end
  if add > 0 and wait == 0 then
    ahead, part = after, after % 128
    whole = now + (after - part) / 128
    text = struct.pack('<Bdd', 103, whole, part)
  elseif add < 0 then
    -- The arrival time moves, at most back to now.
    local ticks = part + add * interval
    part = ticks % 128
    whole = whole + (ticks - part) / 128
    if whole < now or whole == now and part == 0 then return wait, rule[4], 0, '', now end
    lag = whole - now - most
    if lag < 0 then lag = 0 end
    ahead = (whole - now - lag) * 128 + part
    text = struct.pack('<Bdd', 103, whole, part)
  end
  local left, up = limit - ahead, ahead + 127
  if left < 0 then left = 0 end
  return wait, (left - left % interval) / interval, lag + (up - up % 128) / 128, text, whole + 1
end

-- The value is the end of the window, and the count.
local function fixed(value, rule, amount, add)
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

  local quota, window, kind, till, count = rule[2], rule[3]
  if value and #value == 17 then kind, till, count = struct.unpack('<Bdd', value) end
  if kind ~= 102 or till <= now then
    count = 0
    if window == 'month' then
      -- The 31st day after the first of a month is in the next one.
      till = month_day(month_day(math.floor(now / 86400000000)) + 31) * 86400000000
    else
      till = now - now % window + window
    end
  end
  local left, wait, text = till - now, 0
  if count + amount > quota then wait = left end
  if add > 0 and wait > 0 then add = 0 end
  if add ~= 0 then
    count = math.max(count + add, 0)
    text = count > 0 and struct.pack('<Bdd', 102, till, count) or ''
  end
  return wait, math.max(quota - count, 0), count > 0 and left or 0, text, till
end

-- The value is the start of the window, the count before it, and its own.
local function sliding(value, rule, amount, add)
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

  local quota, window = rule[2], rule[3]
  local current, kind, start, before, count = now - now % window
  if value and #value == 25 then kind, start, before, count = struct.unpack('<Bddd', value) end
  if kind ~= 115 or start < current then
    before, count = kind == 115 and start + window == current and count or 0, 0
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

  local wait, text = level(amount), nil
  if add > 0 and wait > 0 then add = 0 end
  if add ~= 0 then
    local rest = math.max(-add - count, 0)
    before, count = math.max(before - rest, 0), math.max(count + add, 0)
    text = before + count > 0 and struct.pack('<Bddd', 115, start, before, count) or ''
  end
  local reset, remaining = level(quota)
  return wait, remaining, reset, text, start + 2 * window
end

-- Returns the rule at a place of the arguments: algorithm, quota, window and burst, and of gcra the ticks
-- of a token and of a burst, and the microseconds of a burst.
local function rule_at(at)
  local name, quota, window = args[at], args[at + 1] + 0, args[at + 2]
  if name == 'gcra' then
    local burst, ticks = args[at + 3] + 0, window * 128 + quota - 1
    local interval = (ticks - ticks % quota) / quota
    local limit = burst * interval
    local span = limit + 127
    return { gcra, quota, window + 0, burst, interval, limit, (span - span % 128) / 128 }
  end
  if name ~= 'fixed' and name ~= 'sliding' then error('expected gcra, fixed or sliding') end
  if name ~= 'fixed' or window ~= 'month' then window = window + 0 end
  return { name == 'fixed' and fixed or sliding, quota, window, quota }
end

-- Does one thing with the value of a key. Returns what its algorithm does.
local function run(mode, value, rule, cost)
  local algorithm, burst = rule[1], rule[4]
  if mode == 'charge' and cost > 0 and cost <= burst then return algorithm(value, rule, cost, cost) end
  if mode == 'reset' then return 0, burst, 0, '', now end
  local amount = math.min(cost, burst)
  if mode == 'look' or mode == 'charge' then
    local wait, remaining, reset = algorithm(value, rule, amount, 0)
    if cost > burst then wait = -1 end
    return cost == 0 and 0 or wait, remaining, reset
  end
  local before = mode == 'refund' and now + 1 or string.match(mode, '^refund (%d+)$')
  if not before then error('expected charge, look, refund or reset') end
  if now >= before + 0 then amount = 0 end
  local _, remaining, reset, text, till = algorithm(value, rule, amount, -amount)
  return 0, remaining, reset, text, till
end

-- Writes value and time to live with one command: no end of a process leaves one without the other.
local function write(key, value, till)
  if value == '' then return call('DEL', key) end
  local left = till - now + 999
  call('PSETEX', key, (left - left % 1000) / 1000 + margin, value)
end

local rules, place = {}, 2
for number = 1, args[1] + 0 do
  rules[number], place = rule_at(place), place + 4
end

-- Returns rule and cost at a place of the arguments.
local function demand_at(at)
  local rule, cost = rules[args[at + 1] + 0], args[at + 2] + 0
  if not rule then error('expected the number of a rule for each key') end
  return rule, cost
end

-- A key of another type is no state: `MGET` says nothing of it, and it must not end the checks of others.
local found = call('MGET', unpack(keys))
if #keys == 1 then
  local rule, cost = demand_at(place)
  local wait, remaining, reset, text, till = run(args[place], found[1], rule, cost)
  if text then write(keys[1], text, till) end
  return { wait, remaining, reset, now }
end

-- What each key has, as it is or will be; the keys that change, and the ends of their values.
local values, changed, ends, answer = {}, {}, {}, {}
for at, key in ipairs(keys) do values[key] = found[at] end

-- Runs one key and notes its answer. Returns wait, the new value and its end.
local function note(mode, at)
  local wait, remaining, reset, text, till =
    run(mode, values[keys[at]], demand_at(place + at * 3 - 3))
  answer[at * 3 - 2], answer[at * 3 - 1], answer[at * 3] = wait, remaining, reset
  return wait, text, till
end

local function change(key, text, till)
  if not ends[key] then changed[#changed + 1] = key end
  values[key], ends[key] = text, till
end

local texts, tills, seen = {}, {}, {}

-- Does one check over several keys. Nothing is written yet.
local function check(mode, first, last)
  local is_done = true
  for at = first, last do
    local wait
    wait, texts[at], tills[at] = note(mode, at)
    is_done = is_done and wait == 0
    if seen[keys[at]] == first then error('expected each key once') end
    seen[keys[at]] = first
  end
  for at = first, last do
    if is_done then
      if texts[at] then change(keys[at], texts[at], tills[at]) end
    elseif mode == 'charge' and answer[at * 3 - 2] == 0 then
      -- It admits, and is as it was.
      note('look', at)
    end
  end
end

local at, total = 1, #keys
while at <= total do
  local mode, last = args[place + at * 3 - 3], at
  while args[place + last * 3] == 'and' do last = last + 1 end
  if last == at then
    local _, text, till = note(mode, at)
    if text then change(keys[at], text, till) end
  else
    check(mode, at, last)
  end
  at = last + 1
end
for number = 1, #changed do
  local key = changed[number]
  write(key, values[key], ends[key])
end
answer[total * 3 + 1] = now
return answer
