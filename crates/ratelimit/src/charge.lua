local clock, margin = redis.call('TIME'), 1
-- Charges several limits of one slot, all or none, at the time of the server.
--
-- KEYS: a key for each limit. ARGV[1]: charge, look, refund or reset. Then for each limit:
-- algorithm (gcra, fixed, sliding), quota, window in microseconds or `month`, burst, cost.
-- Returns wait, remaining and reset for each limit, in microseconds; wait is 0 if the cost is there
-- and -1 if it never is. A charge is done if and only if each wait is 0. `src/script.rs` has the rest.
--
-- The body runs anew at each call, so functions are made only for the algorithms that occur, tables are
-- made with all their fields, and quotients are `a - a % b` instead of calls: all of that was
-- more than half of the time. All numbers are integers below 2^53.

local now = clock[1] * 1000000 + clock[2]

-- Each maker returns the functions of an algorithm over a state of up to three numbers.
local makers = {}

-- The state is the whole microseconds of the theoretical arrival time, and 1/128 beyond.
makers.gcra = function()
  local function view(rule, value)
    local ticks = rule.window * 128 + rule.quota - 1
    rule.interval = (ticks - ticks % rule.quota) / rule.quota
    rule.limit = rule.burst * rule.interval
    local whole, part = string.match(value, '^gcra (%d+) (%d+)$')
    whole = tonumber(whole)
    if not whole or whole < now then return now, 0 end
    return whole, tonumber(part)
  end

  local function wait(rule, cost, whole, part)
    local span = rule.limit + 127
    -- A state that is further ahead than a burst: the clock went back, or the rule has changed.
    local lag = whole - now - (span - span % 128) / 128
    if lag < 0 then lag = 0 end
    local over = (whole - now - lag) * 128 + part - rule.limit + cost * rule.interval
    if over <= 0 then return 0 end
    over = over + 127
    return lag + (over - over % 128) / 128
  end

  local function remaining(rule, whole, part)
    local left = rule.limit - (whole - now) * 128 - part
    if left <= 0 then return 0 end
    return (left - left % rule.interval) / rule.interval
  end

  -- Moves the arrival time, at most back to now.
  local function add(rule, cost, whole, part)
    local ticks = part + cost * rule.interval
    part = ticks % 128
    whole = whole + (ticks - part) / 128
    if whole < now then return now, 0 end
    return whole, part
  end

  local function text(_, whole, part)
    if whole == now and part == 0 then return nil end
    return string.format('gcra %.0f %.0f', whole, part), whole + 1
  end

  return { view = view, wait = wait, remaining = remaining, add = add, text = text }
end

-- The state is the end of the window, and the count.
makers.fixed = function()
  local function start_of_month(day)
    local of_era = (day + 719468) % 146097
    local floor = math.floor
    local leaps = floor(of_era / 1460) - floor(of_era / 36524) + floor(of_era / 146096)
    local year = floor((of_era - leaps) / 365)
    local of_year = of_era - year * 365 - floor(year / 4) + floor(year / 100)
    local month = floor((of_year * 5 + 2) / 153)
    return day - of_year + floor((month * 153 + 2) / 5)
  end

  local function view(rule, value)
    local till, count = string.match(value, '^fixed (%d+) (%d+)$')
    till = tonumber(till)
    if till and now < till then return till, tonumber(count) end
    if rule.window ~= 'month' then return now - now % rule.window + rule.window, 0 end
    local day = math.floor(now / 86400000000)
    return start_of_month(start_of_month(day) + 31) * 86400000000, 0
  end

  local function wait(rule, cost, till, count)
    if count + cost <= rule.quota then return 0 end
    return till - now
  end

  local function remaining(rule, _, count) return math.max(rule.quota - count, 0) end

  local function add(_, cost, till, count) return till, math.max(count + cost, 0) end

  local function text(_, till, count)
    if count == 0 then return nil end
    return string.format('fixed %.0f %.0f', till, count), till
  end

  return { view = view, wait = wait, remaining = remaining, add = add, text = text }
end

-- The state is the start of the window, the count before it, and its own.
makers.sliding = function()
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

  local function view(rule, value)
    local start, before, count = string.match(value, '^sliding (%d+) (%d+) (%d+)$')
    start = tonumber(start)
    local current = now - now % rule.window
    if not start then return current, 0, 0 end
    if start >= current then return start, tonumber(before), tonumber(count) end
    if start + rule.window == current then return current, tonumber(count), 0 end
    return current, 0, 0
  end

  local function used(rule, start, before, count)
    local overlap = rule.window - math.max(now - start, 0)
    local weight, rest = scaled(before, overlap, rule.window)
    if rest > 0 then weight = weight + 1 end
    return count + weight
  end

  -- Returns the part of a window that passes until the count before it weighs at most `room`.
  local function passed(rule, before, room)
    if before <= room then return 0 end
    local part = scaled(room, rule.window, before)
    return rule.window - part
  end

  local function wait(rule, cost, start, before, count)
    if used(rule, start, before, count) + cost <= rule.quota then return 0 end
    local room = rule.quota - cost
    if count <= room then return start + passed(rule, before, room - count) - now end
    return start + rule.window + passed(rule, count, room) - now
  end

  local function remaining(rule, start, before, count)
    return math.max(rule.quota - used(rule, start, before, count), 0)
  end

  local function add(_, cost, start, before, count)
    local rest = math.max(-cost - count, 0)
    return start, math.max(before - rest, 0), math.max(count + cost, 0)
  end

  local function text(rule, start, before, count)
    if before == 0 and count == 0 then return nil end
    local value = string.format('sliding %.0f %.0f %.0f', start, before, count)
    return value, start + 2 * rule.window
  end

  return { view = view, wait = wait, remaining = remaining, add = add, text = text }
end

local made = {}

-- Reads the rule and the state of a key. A value of another algorithm is no state: its rule is not in
-- force any more.
local function read(at)
  local first = at * 5 - 3
  local name, window = ARGV[first], ARGV[first + 2]
  local algorithm = made[name] or makers[name] and makers[name]()
  local quota, cost = tonumber(ARGV[first + 1]), tonumber(ARGV[first + 4])
  local burst = quota
  if name == 'gcra' then burst = tonumber(ARGV[first + 3]) end
  if window ~= 'month' then window = tonumber(window) end
  if not (algorithm and quota and window and burst and cost) then
    error('expected algorithm, quota, window, burst and cost for each key')
  end
  made[name] = algorithm
  local rule = {
    algorithm = algorithm, quota = quota, window = window, burst = burst, cost = cost,
    interval = 0, limit = 0, wait = 0, a = 0, b = 0, c = 0,
  }
  rule.a, rule.b, rule.c = algorithm.view(rule, redis.call('GET', KEYS[at]) or '')
  return rule
end

local function waiting(rule)
  if rule.cost > rule.burst then return -1 end
  if rule.cost == 0 then return 0 end
  return rule.algorithm.wait(rule, rule.cost, rule.a, rule.b, rule.c)
end

-- Writes value and time to live with one command: no end of a process leaves one without the other.
local function write(key, rule, cost)
  local algorithm = rule.algorithm
  rule.a, rule.b, rule.c = algorithm.add(rule, cost, rule.a, rule.b, rule.c)
  local value, till = algorithm.text(rule, rule.a, rule.b, rule.c)
  if not value then return redis.call('DEL', key) end
  local left = till - now + 999
  redis.call('SET', key, value, 'PX', (left - left % 1000) / 1000 + margin)
end

local mode, is_charge, seen, rules = ARGV[1], ARGV[1] == 'charge', {}, {}
local waits = is_charge or mode == 'look'
if not (waits or mode == 'refund' or mode == 'reset') then
  error('expected charge, look, refund or reset')
end
for at = 1, #KEYS do
  if seen[KEYS[at]] then error('expected each key once') end
  seen[KEYS[at]] = true
  local rule = read(at)
  rules[at] = rule
  if waits then rule.wait = waiting(rule) end
  is_charge = is_charge and rule.wait == 0
end
local answer = {}
for at = 1, #KEYS do
  local rule = rules[at]
  if mode == 'reset' then
    redis.call('DEL', KEYS[at])
    rule.a, rule.b, rule.c = rule.algorithm.view(rule, '')
  elseif is_charge and rule.cost > 0 then
    write(KEYS[at], rule, rule.cost)
  elseif mode == 'refund' and rule.cost > 0 then
    write(KEYS[at], rule, -math.min(rule.cost, rule.burst))
  end
  answer[at * 3 - 2] = rule.wait
  answer[at * 3 - 1] = rule.algorithm.remaining(rule, rule.a, rule.b, rule.c)
  answer[at * 3] = rule.algorithm.wait(rule, rule.burst, rule.a, rule.b, rule.c)
end
return answer
