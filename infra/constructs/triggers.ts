import { Duration } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import {
  type FunctionName,
  type ScheduleKind,
  shortened,
  WAKE_EVENT,
  WAKE_TARGETS,
} from '../../shared/contract.ts';

export type Handlers = ReadonlyMap<FunctionName, lambda.Function>;

/** The next minute is the retry: a trigger that could not be delivered at once is worth nothing. */
const DELIVERY = { retryAttempts: 0, maxEventAge: Duration.seconds(60) } as const;

const NAME_LENGTH_MAX = 200;

export interface WakeUpsProps {
  readonly cluster: string;
  /** Undefined: keys of EventBridge. */
  readonly encryptionKey: kms.IKey | undefined;
}

/** The stack's own bus for wake-ups, with one rule for each function that can be woken. */
export class WakeUps extends Construct {
  readonly bus: events.EventBus;

  constructor(scope: Construct, id: string, props: WakeUpsProps) {
    super(scope, id);
    this.bus = new events.EventBus(this, 'Bus', {
      eventBusName: `joiner-${shortened(props.cluster, NAME_LENGTH_MAX)}`,
      description: `Wakes Joiner's functions for the cluster ${props.cluster}`,
      ...(props.encryptionKey === undefined ? {} : { kmsKey: props.encryptionKey }),
    });
  }

  /** Rules for those of the functions that a wake-up is for. */
  connect(cluster: string, handlers: Handlers): readonly events.Rule[] {
    return [...handlers].flatMap(([name, handler]) => {
      const kinds = Object.entries(WAKE_TARGETS)
        .filter(([, woken]) => woken.some((each) => each === name))
        .map(([kind]) => kind);
      if (kinds.length === 0) return [];
      const rule = new events.Rule(this, `Wake-${name}`, {
        description: `Wakes ${name} for the cluster ${cluster}`,
        eventBus: this.bus,
        eventPattern: {
          source: [WAKE_EVENT.source],
          detailType: [WAKE_EVENT.wakeDetailType],
          detail: { cluster: [cluster], kind: kinds },
        },
        targets: [new targets.LambdaFunction(handler, DELIVERY)],
      });
      return [rule];
    });
  }
}

interface Schedule {
  readonly every: Duration;
  readonly kind: ScheduleKind;
}

/** When a function runs by the clock; functions that are not named do not. */
export const SCHEDULES: Readonly<Partial<Record<FunctionName, readonly Schedule[]>>> = {
  watch: [{ every: Duration.minutes(1), kind: 'tick' }],
  provision: [{ every: Duration.minutes(1), kind: 'tick' }],
  lifecycle: [{ every: Duration.minutes(1), kind: 'tick' }],
  disrupt: [{ every: Duration.minutes(1), kind: 'tick' }],
  nodeclass: [{ every: Duration.minutes(5), kind: 'tick' }],
  metrics: [{ every: Duration.minutes(1), kind: 'tick' }],
  shadow: [{ every: Duration.minutes(1), kind: 'tick' }],
  catalog: [
    { every: Duration.minutes(15), kind: 'spot-prices' },
    { every: Duration.hours(12), kind: 'all' },
  ],
};

/** The clock. Its events look like wake-ups, so that functions decode one form. */
export class Schedules extends Construct {
  readonly rules: readonly events.Rule[];

  constructor(
    scope: Construct,
    id: string,
    props: { readonly cluster: string; readonly handlers: Handlers },
  ) {
    super(scope, id);
    this.rules = [...props.handlers].flatMap(([name, handler]) =>
      (SCHEDULES[name] ?? []).map(({ every, kind }) => {
        const event = events.RuleTargetInput.fromObject({
          source: WAKE_EVENT.source,
          'detail-type': WAKE_EVENT.scheduleDetailType,
          detail: { cluster: props.cluster, kind },
        });
        return new events.Rule(this, `${name}-${kind}`, {
          description: `Runs ${name} for the cluster ${props.cluster}: ${kind}`,
          schedule: events.Schedule.rate(every),
          targets: [new targets.LambdaFunction(handler, { ...DELIVERY, event })],
        });
      }),
    );
  }
}
