import { HOURS_A_MONTH } from '../../shared/core/duration.ts';
import { amount, type CostInput, count, launches, MINUTES, type Part } from './bill.ts';
import { DEPLOYMENT, SERIES } from './deployment.ts';
import type { RunSeconds } from './durations.ts';
import { AUTO_MODE_SHARE, FREE_TIER } from './prices.ts';
import { situationParts } from './situations.ts';

export interface Cost {
  readonly parts: readonly Part[];
  readonly usd: number;
  /** What the account's free tier takes off, if nothing else uses it. */
  readonly freeTierUsd: number;
}

const SECONDS = MINUTES * 60;
const GB_BYTES = 1e9;

/** Runs and their seconds of one function in a month. */
interface Load {
  readonly runs: number;
  readonly seconds: number;
  readonly formula: string;
}

type Computed =
  | 'watch'
  | 'provision'
  | 'lifecycle'
  | 'disrupt'
  | 'interrupt'
  | 'nodeclass'
  | 'catalog';

/** What Joiner itself costs for a month of 730 hours. */
export function costOf(input: CostInput): Cost {
  const { prices } = input;
  const loads = loadsOf(input);
  const compute = Object.entries(loads).map(([name, load]): Part => {
    const gb = memoryGb(name);
    return {
      name,
      formula: load.runs === 0 ? 'none' : `${load.formula} × ${gb.toFixed(2)} GB`,
      usd: load.seconds * gb * prices.lambdaGbSecond,
    };
  });
  const parts = [
    ...compute,
    ...observationParts(input, loads),
    ...storageParts(input, loads),
    ...situationParts(input),
  ];
  const total = parts.reduce((sum, { usd }) => sum + usd, 0);
  return { parts, usd: total, freeTierUsd: Math.min(total, freeTier(input, loads)) };
}

function memoryGb(name: string): number {
  const sizes: Readonly<Record<string, number>> = DEPLOYMENT.memorySizes;
  return (sizes[name] ?? 0) / 1024;
}

function seconds(run: RunSeconds, { nodes, pods }: CostInput): number {
  return run.base + run.perNode * nodes + run.perPod * pods;
}

function wakeUps(input: CostInput): number {
  // `provision` tells of its launches.
  if (input.reaction === 'tick') return launches(input);
  const { wakeUpsPerNode, wakeUpsPerWatch, watchHold } = input.durations;
  return launches(input) * wakeUpsPerNode + (SECONDS / watchHold) * wakeUpsPerWatch;
}

function loadsOf(input: CostInput): Readonly<Record<Computed, Load>> {
  const { durations: times } = input;
  const { schedules } = DEPLOYMENT;
  const ticks = MINUTES / schedules.provision.tick;
  const comings = launches(input);
  const messages = comings * times.messagesPerNode;
  const provision = seconds(times.idle.provision, input);
  const disrupt = seconds(times.idle.disrupt, input);
  const nodeclass = seconds(times.idle.nodeclass, input);
  const spot = MINUTES / schedules.catalog['spot-prices'];
  const all = MINUTES / schedules.catalog.all;
  return {
    watch: watchLoad(input),
    provision: {
      runs: ticks + comings,
      seconds: ticks * provision + comings * times.provisionLaunch,
      formula:
        `(${count(ticks)} × ${amount(provision)} s + ${count(comings)} launches × ` +
        `${amount(times.provisionLaunch)} s)`,
    },
    lifecycle: lifecycleLoad(input),
    disrupt: {
      runs: MINUTES / schedules.disrupt.tick,
      seconds: (MINUTES / schedules.disrupt.tick) * disrupt,
      formula: `${count(MINUTES / schedules.disrupt.tick)} × ${amount(disrupt)} s`,
    },
    interrupt: {
      runs: messages,
      seconds: messages * times.interruptMessage,
      formula: `${count(messages)} × ${amount(times.interruptMessage)} s`,
    },
    nodeclass: {
      runs: MINUTES / schedules.nodeclass.tick,
      seconds: (MINUTES / schedules.nodeclass.tick) * nodeclass,
      formula: `${count(MINUTES / schedules.nodeclass.tick)} × ${amount(nodeclass)} s`,
    },
    catalog: {
      runs: spot + all,
      seconds: spot * times.idle.spotPrices.base + all * times.idle.catalog.base,
      formula:
        `(${count(spot)} × ${amount(times.idle.spotPrices.base)} s + ${count(all)} × ` +
        `${amount(times.idle.catalog.base)} s)`,
    },
  };
}

/** One holds the watches; the next one waits for its Lease, those in between leave at once. */
function watchLoad({ reaction, durations: times }: CostInput): Load {
  if (reaction === 'tick') return { runs: 0, seconds: 0, formula: '' };
  const runs = MINUTES / DEPLOYMENT.schedules.watch.tick;
  const holds = SECONDS / times.watchHold;
  const others = runs - holds;
  return {
    runs,
    seconds: SECONDS + holds * times.watchWait + others * times.watchLeaves,
    formula:
      `(${count(SECONDS)} s + ${count(holds)} × ${amount(times.watchWait)} s + ${count(others)} × ` +
      `${amount(times.watchLeaves)} s)`,
  };
}

/**
 * It stays while nodes come or go, one invocation for all of them, so that it takes at most the
 * whole month; the ticks of the rest of the month are short, wake-ups that find the Lease held more
 * so.
 */
function lifecycleLoad(input: CostInput): Load {
  const { durations: times } = input;
  const ticks = MINUTES / DEPLOYMENT.schedules.lifecycle.tick;
  const idle = seconds(times.idle.lifecycle, input);
  const comings = launches(input);
  const woken = wakeUps(input);
  const each = times.lifecycleLaunch + times.lifecycleTermination;
  const busy = Math.min(SECONDS, comings * each);
  const quiet = ticks * (1 - busy / SECONDS);
  const held = `${count(woken)} × ${amount(times.leaseHeld)} s`;
  return {
    runs: ticks + woken,
    seconds: busy + quiet * idle + woken * times.leaseHeld,
    formula:
      quiet === 0
        ? `(${count(SECONDS)} s + ${held})`
        : `(${count(quiet)} × ${amount(idle)} s + ${count(comings)} nodes × ${amount(each)} s + ` +
          `${held})`,
  };
}

function runsOf(loads: Readonly<Record<Computed, Load>>): number {
  return Object.values(loads).reduce((sum, { runs }) => sum + runs, 0);
}

function logGb(input: CostInput, loads: Readonly<Record<Computed, Load>>): number {
  const { logBytesPerRun, logBytesPerLaunch } = input.durations;
  return (runsOf(loads) * logBytesPerRun + launches(input) * logBytesPerLaunch) / GB_BYTES;
}

function observationParts(
  input: CostInput,
  loads: Readonly<Record<Computed, Load>>,
): readonly Part[] {
  const { prices } = input;
  const runs = runsOf(loads);
  const gb = logGb(input, loads);
  const { alarmMetrics, dashboards } = DEPLOYMENT;
  return [
    {
      name: 'requests',
      formula: `${count(runs)} × $${prices.lambdaRequests} a million`,
      usd: (runs / 1e6) * prices.lambdaRequests,
    },
    {
      name: 'metrics',
      formula: `${SERIES} series × $${prices.metric}`,
      usd: SERIES * prices.metric,
    },
    {
      name: 'alarms',
      formula: `${alarmMetrics} metrics × $${prices.alarmMetric}`,
      usd: alarmMetrics * prices.alarmMetric,
    },
    {
      name: 'dashboard',
      formula: `${dashboards} × $${prices.dashboard}`,
      usd: dashboards * prices.dashboard,
    },
    { name: 'logs', formula: `${amount(gb)} GB × $${prices.logsGb}`, usd: gb * prices.logsGb },
  ];
}

function queueCalls({ durations }: CostInput): number {
  return MINUTES * durations.queueCallsPerMinute;
}

function storageParts(input: CostInput, loads: Readonly<Record<Computed, Load>>): readonly Part[] {
  const { prices, durations } = input;
  const events = wakeUps(input);
  const calls = queueCalls(input);
  const readers = loads.provision.runs + loads.disrupt.runs;
  const reads = readers * durations.bucketReadsPerRun;
  const lists = readers * durations.bucketListsPerRun;
  const writes = loads.catalog.runs + launches(input);
  return [
    {
      name: 'events',
      formula: `${count(events)} × $${prices.events} a million`,
      usd: (events / 1e6) * prices.events,
    },
    {
      name: 'queue',
      formula: `${count(calls)} calls × $${prices.queueCalls} a million`,
      usd: (calls / 1e6) * prices.queueCalls,
    },
    {
      name: 'bucket',
      formula:
        `${count(lists + writes)} lists and writes × $${prices.bucketWrites} a thousand, ` +
        `${count(reads)} reads × $${prices.bucketReads} a thousand, 1 GB × $${prices.bucketGb}`,
      usd:
        ((lists + writes) / 1000) * prices.bucketWrites +
        (reads / 1000) * prices.bucketReads +
        prices.bucketGb,
    },
    ...networkParts(input),
  ];
}

/** Traffic is not counted: it is that of AWS's APIs, the cluster's own stays in the network. */
function networkParts({ network, zones, prices }: CostInput): readonly Part[] {
  if (network === 'none') return [];
  if (network === 'nat') {
    return [
      {
        name: 'NAT gateways',
        formula: `${zones} × $${prices.natGatewayHour} × ${HOURS_A_MONTH} h`,
        usd: zones * prices.natGatewayHour * HOURS_A_MONTH,
      },
    ];
  }
  const { interfaceEndpoints } = DEPLOYMENT;
  return [
    {
      name: 'endpoints',
      formula:
        `${interfaceEndpoints.length} (${interfaceEndpoints.join(', ')}) × ${zones} zones × ` +
        `$${prices.endpointHour} × ${HOURS_A_MONTH} h`,
      usd: interfaceEndpoints.length * zones * prices.endpointHour * HOURS_A_MONTH,
    },
  ];
}

function freeTier(input: CostInput, loads: Readonly<Record<Computed, Load>>): number {
  const { prices } = input;
  const gbSeconds = Object.entries(loads).reduce(
    (sum, [name, load]) => sum + load.seconds * memoryGb(name),
    0,
  );
  return (
    Math.min(gbSeconds, FREE_TIER.lambdaGbSeconds) * prices.lambdaGbSecond +
    (Math.min(runsOf(loads), FREE_TIER.lambdaRequests) / 1e6) * prices.lambdaRequests +
    Math.min(SERIES, FREE_TIER.metrics) * prices.metric +
    Math.min(DEPLOYMENT.alarmMetrics, FREE_TIER.alarmMetrics) * prices.alarmMetric +
    Math.min(DEPLOYMENT.dashboards, FREE_TIER.dashboards) * prices.dashboard +
    Math.min(logGb(input, loads), FREE_TIER.logsGb) * prices.logsGb +
    (Math.min(queueCalls(input), FREE_TIER.queueCalls) / 1e6) * prices.queueCalls
  );
}

/** Requests of Karpenter's chart: 1 processor and 1 GiB, twice; Fargate's next size has 2 GB. */
const KARPENTER = { replicas: 2, cpus: 1, fargateGb: 2, diskGb: 20 } as const;

/** What the same nodes cost to provision otherwise; the nodes themselves are paid for alike. */
export function alternatives(input: CostInput): readonly Part[] {
  const { prices, nodes, nodePrice, karpenterNodePrice } = input;
  const { replicas, cpus, fargateGb, diskGb } = KARPENTER;
  const { fargateCpuHour, fargateGbHour } = prices;
  return [
    {
      name: 'Karpenter on Fargate',
      formula:
        `${replicas} × (${cpus} vCPU × $${fargateCpuHour} + ${fargateGb} GB × ` +
        `$${fargateGbHour}) × ${HOURS_A_MONTH} h`,
      usd: replicas * (cpus * fargateCpuHour + fargateGb * fargateGbHour) * HOURS_A_MONTH,
    },
    {
      name: 'Karpenter on two nodes',
      formula:
        `${replicas} × (t4g.medium, $${karpenterNodePrice} × ${HOURS_A_MONTH} h + ${diskGb} GB × ` +
        `$${prices.diskGb})`,
      usd: replicas * (karpenterNodePrice * HOURS_A_MONTH + diskGb * prices.diskGb),
    },
    {
      name: 'EKS Auto Mode',
      formula: `${count(nodes)} × $${nodePrice} × ${HOURS_A_MONTH} h × ${AUTO_MODE_SHARE * 100} %`,
      usd: nodes * nodePrice * HOURS_A_MONTH * AUTO_MODE_SHARE,
    },
  ];
}
