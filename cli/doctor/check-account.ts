import { isOurs } from '../../shared/core/launch/node-classes.ts';
import { CAPACITY_TYPE, SPOT } from '../../shared/core/model/labels.ts';
import type { RequirementExpression } from '../../shared/core/model/requirement.ts';
import type { Facts } from './facts.ts';
import { fail, judged, type Line, ok, warn } from './line.ts';

/** One of each function at a time, `interrupt` five times, and the next `watch` beside the last. */
const CONCURRENT_MAX = 13;
/** With less than this to itself, others in the account can starve Joiner. */
const CONCURRENT_ROOM = 50;
/** The default of young accounts is 5 to 32: one or two machines. */
const CPUS_FEW = 64;
/** Wake-ups are coalesced to one a second and kind, a dozen at most. */
const EVENTS_MIN = 50;
/** Schedules and interruption rules of one stack, on the default bus. */
export const RULES_PER_STACK = 13;

/** Quotas that are met before anything else, and what EC2 asks for spot. */
export function checkAccount(facts: Facts): readonly Line[] {
  const { quotas } = facts;
  return [
    ...judged('quota lambda', quotas.concurrency, ({ limit, unreserved }): Line => {
      const message = `${unreserved} of ${limit} concurrent executions unreserved`;
      const advice =
        'aws service-quotas request-service-quota-increase --service-code lambda ' +
        '--quota-code L-B99A9384 --desired-value 1000';
      if (unreserved < CONCURRENT_MAX) {
        const needs = `${message}: Joiner needs up to ${CONCURRENT_MAX} at a time`;
        return unreserved < 5
          ? fail('quota lambda', needs, advice)
          : warn('quota lambda', needs, advice);
      }
      return unreserved < CONCURRENT_ROOM
        ? warn('quota lambda', message, advice)
        : ok('quota lambda', message);
    }),
    ...cpus('quota on-demand', facts.quotas.onDemandCpus, 'L-1216C47A', false),
    ...cpus('quota spot', facts.quotas.spotCpus, 'L-34B43A08', usesSpot(facts)),
    ...judged('quota events', quotas.putEventsPerSecond, (limit): Line => {
      const message = `${limit} PutEvents a second`;
      if (limit >= EVENTS_MIN) return ok('quota events', message);
      return warn('quota events', message, 'ask for L-9B653E91 of events to be raised');
    }),
    ...checkRules(facts),
    ...checkSpotRole(facts),
  ];
}

function cpus(
  check: string,
  quota: Facts['quotas']['spotCpus'],
  code: string,
  isUsed: boolean,
): readonly Line[] {
  return judged(check, quota, (limit): Line => {
    const message = `${limit} vCPUs of standard instances`;
    const advice =
      'aws service-quotas request-service-quota-increase --service-code ec2 ' +
      `--quota-code ${code} --desired-value 640`;
    if (limit === 0 && isUsed) return fail(check, message, advice);
    return limit < CPUS_FEW ? warn(check, message, advice) : ok(check, message);
  });
}

function checkRules({ quotas, functions }: Facts): readonly Line[] {
  const isDeployed = functions.ok && functions.value.length > 0;
  return judged('quota rules', quotas.rules, ({ limit, used }): Line => {
    const message = `${used} of ${limit} rules of the default event bus`;
    const isFull = !isDeployed && used + RULES_PER_STACK > limit;
    const advice = 'ask for L-244521F2 of events to be raised, or remove rules';
    if (!isFull) return ok('quota rules', message);
    return fail('quota rules', `${message}: a stack needs ${RULES_PER_STACK} more`, advice);
  });
}

/** NodePools that may launch spot instances: one that says nothing of it does, where it is cheaper. */
function usesSpot({ pools }: Facts): boolean {
  return pools.some(
    ({ template }) =>
      isOurs(template.nodeClassRef) &&
      template.requirements.every((each) => each.key !== CAPACITY_TYPE || allowsSpot(each)),
  );
}

function allowsSpot({ operator, values }: RequirementExpression): boolean {
  if (operator === 'NotIn') return !values.includes(SPOT);
  return operator === 'Exists' || values.includes(SPOT);
}

function checkSpotRole(facts: Facts): readonly Line[] {
  return judged('spot role', facts.spotRole, (exists): Line => {
    if (exists) return ok('spot role', 'AWSServiceRoleForEC2Spot is there');
    const line = usesSpot(facts) ? fail : warn;
    return line(
      'spot role',
      'AWSServiceRoleForEC2Spot is missing: spot instances are refused, and no function may make it',
      'aws iam create-service-linked-role --aws-service-name spot.amazonaws.com',
    );
  });
}
