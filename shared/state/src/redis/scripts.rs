//! The writes, each one script: it happens wholly or not at all, and a repetition finds that it has happened. All keys of
//! one script share a hash tag, so they lie on one node. Time is the server's.

/// KEYS steps; ARGV step, tasks, retention in seconds.
pub(super) const EXPECT: &str = r"
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
";

/// KEYS ends, counts; ARGV task, `done` or `dead`, retention in seconds.
pub(super) const END: &str = r"
local old = redis.call('HGET', KEYS[1], ARGV[1])
if old ~= ARGV[2] and old ~= 'done' then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('HINCRBY', KEYS[2], ARGV[2], 1)
  if old then redis.call('HINCRBY', KEYS[2], old, -1) end
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return 1
";

/// KEYS steps, counts; returns whether anything is known, then planned, done, dead.
pub(super) const PROGRESS: &str = r"
local planned = 0
for _, tasks in ipairs(redis.call('HVALS', KEYS[1])) do planned = planned + tonumber(tasks) end
local counts = redis.call('HMGET', KEYS[2], 'done', 'dead')
return {redis.call('EXISTS', KEYS[1], KEYS[2]), planned, tonumber(counts[1] or 0), tonumber(counts[2] or 0)}
";

/// KEYS leases, fences; ARGV task, claimant, lease in milliseconds, retention in seconds.
/// Returns 1 when granted or 0, the fence, and who holds it.
///
/// A lease is stored as `FENCE EXPIRY CLAIMANT`, the expiry in milliseconds since the epoch.
pub(super) const CLAIM: &str = r"
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local held = redis.call('HGET', KEYS[1], ARGV[1])
local fence
if held then
  local held_fence, expiry, claimant = string.match(held, '^(%d+) (%d+) (.*)$')
  if tonumber(expiry) > now then
    if claimant ~= ARGV[2] then return {0, tonumber(held_fence), claimant} end
    fence = tonumber(held_fence)
  end
end
fence = fence or redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
local expiry = string.format('%.0f', now + tonumber(ARGV[3]))
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', fence) .. ' ' .. expiry .. ' ' .. ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[4])
return {1, fence, ARGV[2]}
";

/// KEYS leases; ARGV task, claimant, fence, lease in milliseconds or -1 to give it back. Returns 1 when it was held.
pub(super) const RENEW: &str = r"
local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held then return 0 end
local fence, _, claimant = string.match(held, '^(%d+) (%d+) (.*)$')
if fence ~= ARGV[3] or claimant ~= ARGV[2] then return 0 end
if ARGV[4] == '-1' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  return 1
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local expiry = string.format('%.0f', now + tonumber(ARGV[4]))
redis.call('HSET', KEYS[1], ARGV[1], fence .. ' ' .. expiry .. ' ' .. claimant)
return 1
";

/// KEYS workers; ARGV worker, seen, report. A report is stored as `SEEN JSON`.
pub(super) const BEAT: &str = r"
local last = redis.call('HGET', KEYS[1], ARGV[1])
if last and tonumber(string.match(last, '^%d+')) > tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
return 1
";

/// KEYS permits, next; ARGV permit, hold in microseconds, permits at a time, interval in microseconds or 0, burst.
/// Returns 1 when granted, 2 when all are held, 3 when it is too soon; then microseconds to wait.
pub(super) const ACQUIRE: &str = r"
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local function text(number) return string.format('%.0f', number) end
local expiry = text(now + tonumber(ARGV[2]))
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now))
local granted = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not granted and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
  local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  return {2, tonumber(first[2]) - now}
end
local interval = tonumber(ARGV[4])
if not granted and interval > 0 then
  local next = math.max(tonumber(redis.call('GET', KEYS[2]) or 0), now)
  local wait = next - now - (tonumber(ARGV[5]) - 1) * interval
  if wait > 0 then return {3, wait} end
  redis.call('SET', KEYS[2], text(next + interval), 'PX', text(math.ceil((next + interval - now) / 1000)))
end
redis.call('ZADD', KEYS[1], expiry, ARGV[1])
local longest = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIRE', KEYS[1], text(math.ceil((tonumber(longest[2]) - now) / 1000)))
return {1, 0}
";
