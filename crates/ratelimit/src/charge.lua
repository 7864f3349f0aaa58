local clock, margin = redis.call('TIME'), 1
-- Charges several limits of one slot, all or none, at the time of the server.
--
-- KEYS: a key for each limit. ARGV[1]: charge, look, refund or reset. Then for each limit:
-- algorithm (gcra, fixed, sliding), quota, window in microseconds or `month`, burst, cost.
-- Returns wait, remaining and reset for each limit, in microseconds; wait is 0 if the cost is there
-- and -1 if it never is. A charge is done if and only if each wait is 0. `src/script.rs` has the rest.

local floor, fmod, max, min = math.floor, math.fmod, math.max, math.min
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local DAY = 86400000000

local function ceil_div(a, b) return floor((a + b - 1) / b) end

-- Returns floor and remainder of a * b / c, where a < 2^42, b and c <= 2^45: long division by
-- digits of 7 bits, so that no number reaches 2^53.
local function scaled(a, b, c)
  local quotient, rest, unit = 0, 0, 2 ^ 35
  while unit >= 1 do
    local digit = floor(a / unit)
    a = a - digit * unit
    local part = rest * 128 + digit * b
    local times = floor(part / c)
    quotient, rest, unit = quotient * 128 + times, part - times * c, unit / 128
  end
  return quotient, rest
end

local function month_day(day)
  local of_era = fmod(day + 719468, 146097)
  local leaps = floor(of_era / 1460) - floor(of_era / 36524) + floor(of_era / 146096)
  local year = floor((of_era - leaps) / 365)
  local of_year = of_era - year * 365 - floor(year / 4) + floor(year / 100)
  local month = floor((of_year * 5 + 2) / 153)
  return day - of_year + floor((month * 153 + 2) / 5)
end

local function start_of(window, time)
  if window == 'month' then return month_day(floor(time / DAY)) * DAY end
  return time - fmod(time, window)
end

local function end_of(window, time)
  if window == 'month' then return month_day(month_day(floor(time / DAY)) + 31) * DAY end
  return start_of(window, time) + window
end

local gcra, fixed, sliding = {}, {}, {}

-- The value is the whole microseconds of the theoretical arrival time, and 1/128 beyond.
function gcra.view(rule, whole, part)
  rule.interval = ceil_div(rule.window * 128, rule.quota)
  rule.limit, rule.span = rule.burst * rule.interval, ceil_div(rule.burst * rule.interval, 128)
  if not whole or whole < now then whole, part = now, 0 end
  local lag = max(whole - now - rule.span, 0)
  return { whole = whole, part = part, lag = lag, ahead = (whole - now - lag) * 128 + part }
end

function gcra.wait(rule, view, cost)
  local over = view.ahead - rule.limit + cost * rule.interval
  if over <= 0 and view.lag == 0 then return 0 end
  return view.lag + ceil_div(over, 128)
end

function gcra.remaining(rule, view) return floor(max(rule.limit - view.ahead, 0) / rule.interval) end

-- Moves the arrival time, at most back to now.
function gcra.add(rule, view, cost)
  local ticks = view.part + cost * rule.interval
  local whole = view.whole + floor(ticks / 128)
  local part = ticks - floor(ticks / 128) * 128
  return gcra.view(rule, whole, part)
end

function gcra.numbers(rule, view)
  if view.whole == now and view.part == 0 then return nil end
  return { view.whole, view.part }, view.whole + 1
end

-- The value is the end of the window, and the count.
function fixed.view(rule, till, count)
  if till and now < till then return { till = till, count = count } end
  return { till = end_of(rule.window, now), count = 0 }
end

function fixed.wait(rule, view, cost)
  if view.count + cost <= rule.quota then return 0 end
  return view.till - now
end

function fixed.remaining(rule, view) return max(rule.quota - view.count, 0) end

function fixed.add(rule, view, cost) return { till = view.till, count = max(view.count + cost, 0) } end

function fixed.numbers(rule, view)
  if view.count == 0 then return nil end
  return { view.till, view.count }, view.till
end

-- The value is the start of the window, the count before it, and the count.
function sliding.view(rule, start, before, count)
  local current = start_of(rule.window, now)
  if start and start >= current then return { start = start, before = before, count = count } end
  if start and start + rule.window == current then
    return { start = current, before = count, count = 0 }
  end
  return { start = current, before = 0, count = 0 }
end

local function used(rule, view)
  local overlap = rule.window - max(now - view.start, 0)
  local weight, rest = scaled(view.before, overlap, rule.window)
  if rest > 0 then weight = weight + 1 end
  return view.count + weight
end

local function passed_until(rule, before, room)
  if before <= room then return 0 end
  local part = scaled(room, rule.window, before)
  return rule.window - part
end

function sliding.wait(rule, view, cost)
  if used(rule, view) + cost <= rule.quota then return 0 end
  local room = rule.quota - cost
  if view.count <= room then
    return view.start + passed_until(rule, view.before, room - view.count) - now
  end
  return view.start + rule.window + passed_until(rule, view.count, room) - now
end

function sliding.remaining(rule, view) return max(rule.quota - used(rule, view), 0) end

function sliding.add(rule, view, cost)
  local rest = max(-cost - view.count, 0)
  local count, before = max(view.count + cost, 0), max(view.before - rest, 0)
  return { start = view.start, before = before, count = count }
end

function sliding.numbers(rule, view)
  if view.count == 0 and view.before == 0 then return nil end
  return { view.start, view.before, view.count }, view.start + 2 * rule.window
end

local algorithms = { gcra = gcra, fixed = fixed, sliding = sliding }

local function read(at)
  local first = at * 5 - 3
  local name, window = ARGV[first], ARGV[first + 2]
  local rule = { name = name, quota = tonumber(ARGV[first + 1]), cost = tonumber(ARGV[first + 4]) }
  rule.window = window == 'month' and window or tonumber(window)
  rule.burst = name == 'gcra' and tonumber(ARGV[first + 3]) or rule.quota
  rule.algorithm = algorithms[name]
  if not (rule.algorithm and rule.quota and rule.window and rule.burst and rule.cost) then
    error('expected algorithm, quota, window, burst and cost for each key')
  end
  -- A value of another algorithm is none: its rule is not in force any more.
  local value, numbers = redis.call('GET', KEYS[at]), {}
  if value and string.sub(value, 1, #name + 1) == name .. ' ' then
    for number in string.gmatch(value, '%d+') do numbers[#numbers + 1] = tonumber(number) end
  end
  return rule, rule.algorithm.view(rule, unpack(numbers))
end

local function wait(rule, view)
  if rule.cost > rule.burst then return -1 end
  if rule.cost == 0 then return 0 end
  return rule.algorithm.wait(rule, view, rule.cost)
end

-- Writes value and time to live with one command: no end of a process leaves one without the other.
local function write(key, rule, view)
  local numbers, till = rule.algorithm.numbers(rule, view)
  if not numbers then return redis.call('DEL', key) end
  local value = rule.name
  for _, number in ipairs(numbers) do value = value .. string.format(' %.0f', number) end
  redis.call('SET', key, value, 'PX', string.format('%.0f', ceil_div(till - now, 1000) + margin))
end

local mode, is_charge, seen = ARGV[1], ARGV[1] == 'charge', {}
local is_mode = is_charge or mode == 'look' or mode == 'refund' or mode == 'reset'
if not is_mode then error('expected charge, look, refund or reset') end
local rules, views, waits = {}, {}, {}
for at, key in ipairs(KEYS) do
  if seen[key] then error('expected each key once') end
  seen[key] = true
  rules[at], views[at] = read(at)
  waits[at] = (mode == 'charge' or mode == 'look') and wait(rules[at], views[at]) or 0
  is_charge = is_charge and waits[at] == 0
end
local answer = {}
for at, key in ipairs(KEYS) do
  local rule, view = rules[at], views[at]
  if mode == 'reset' then
    redis.call('DEL', key)
    view = rule.algorithm.view(rule)
  elseif rule.cost > 0 and (is_charge or mode == 'refund') then
    local cost = mode == 'refund' and -min(rule.cost, rule.burst) or rule.cost
    view = rule.algorithm.add(rule, view, cost)
    write(key, rule, view)
  end
  local row = #answer
  answer[row + 1], answer[row + 2] = waits[at], rule.algorithm.remaining(rule, view)
  answer[row + 3] = rule.algorithm.wait(rule, view, rule.burst)
end
return answer
