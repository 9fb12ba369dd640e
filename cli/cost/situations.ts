import { amount, type CostInput, count, launches, MINUTES, type Part } from './bill.ts';
import { DEPLOYMENT } from './deployment.ts';

const BATCH = 10;
const CALLS_A_BATCH = 2;

/** `lifecycle` stays while a drain is blocked: where it stays anyway, this is counted twice. */
function blockedDrains({ blockedHours = 0, prices }: CostInput): Part {
  const gb = DEPLOYMENT.memorySizes.lifecycle / 1024;
  return {
    name: 'blocked drains',
    formula: blockedHours === 0 ? 'none' : `${amount(blockedHours)} h × 3,600 s × ${gb} GB`,
    usd: blockedHours * 3600 * gb * prices.lambdaGbSecond,
  };
}

/** Neither the cluster nor EC2 is asked; ten messages come at once. */
function foreignMessages({ foreignMessages: messages = 0, durations, prices }: CostInput): Part {
  const gb = DEPLOYMENT.memorySizes.interrupt / 1024;
  const runs = messages / BATCH;
  const calls = runs * CALLS_A_BATCH;
  const formula =
    `${count(runs)} batches × ${amount(durations.foreignBatch)} s × ${gb} GB, ` +
    `${count(calls)} calls × $${prices.queueCalls} a million`;
  return {
    name: 'foreign messages',
    formula: messages === 0 ? 'none' : formula,
    usd:
      runs * durations.foreignBatch * gb * prices.lambdaGbSecond +
      (runs / 1e6) * prices.lambdaRequests +
      (calls / 1e6) * prices.queueCalls,
  };
}

/** In the bucket, beside the log. */
function keptDecisions(input: CostInput): Part {
  const { durations, prices } = input;
  const decisions = launches(input) * durations.decisionsPerNode;
  const gb = (decisions * durations.logBytesPerLaunch * durations.decisionsKeptMonths) / 1e9;
  return {
    name: 'kept decisions',
    formula:
      `${count(decisions)} × $${prices.bucketWrites} a thousand, ` +
      `${amount(gb)} GB × $${prices.bucketGb}`,
    usd: (decisions / 1000) * prices.bucketWrites + gb * prices.bucketGb,
  };
}

/** Where the cluster's audit log is on, Joiner's requests are in it as everybody's are. */
function auditLog(input: CostInput): Part {
  const { durations, prices, auditLog: isOn = false } = input;
  const idle = durations.apiRequestsPerMinute * MINUTES;
  const requests = idle + launches(input) * durations.apiRequestsPerNode;
  const gb = (requests * durations.auditBytesPerRequest) / 1e9;
  return {
    name: 'audit log',
    formula: isOn
      ? `${count(requests)} requests × ${count(durations.auditBytesPerRequest)} bytes, ` +
        `${amount(gb)} GB × $${prices.logsGb}`
      : 'none',
    usd: isOn ? gb * prices.logsGb : 0,
  };
}

/** Rows that most bills do not have. */
export function situationParts(input: CostInput): readonly Part[] {
  return [blockedDrains(input), foreignMessages(input), keptDecisions(input), auditLog(input)];
}
