import { METRICS } from '../../shared/contract/metrics.ts';
import type { FunctionName } from '../../shared/contract.ts';

/**
 * What a stack with the default props has that is paid for. `test/infra/cost.test.ts` compares it
 * with the constructs and with the template.
 */
export const DEPLOYMENT = {
  /** MB by function. */
  memorySizes: {
    watch: 256,
    provision: 1769,
    lifecycle: 1024,
    disrupt: 1769,
    interrupt: 512,
    nodeclass: 512,
    catalog: 512,
    install: 256,
  } satisfies Readonly<Partial<Record<FunctionName, number>>>,
  /** Minutes between runs by schedule. */
  schedules: {
    watch: { tick: 1 },
    provision: { tick: 1 },
    lifecycle: { tick: 1 },
    disrupt: { tick: 1 },
    nodeclass: { tick: 5 },
    catalog: { 'spot-prices': 15, all: 720 },
  },
  /** Metrics that are read out of the logs: the memory of functions. */
  metricFilters: 6,
  /** Metrics that alarms look at; the ones with formulas look at two. */
  alarmMetrics: 32,
  dashboards: 1,
  /** Interface endpoints that functions in a VPC without NAT need (docs/private-clusters.md). */
  interfaceEndpoints: ['eks', 'ec2', 'ssm', 'events'],
} as const;

/** Every metric has one series a cluster. */
export const SERIES = Object.keys(METRICS).length + DEPLOYMENT.metricFilters;
