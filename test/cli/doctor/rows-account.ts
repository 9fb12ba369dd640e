import type { Facts } from '../../../cli/doctor/facts.ts';
import { aPool, HEALTHY, unknown, yes } from './healthy.ts';
import { NOT_DEPLOYED, type Row } from './row.ts';

const quotas = (change: Partial<Facts['quotas']>): Partial<Facts> => ({
  quotas: { ...HEALTHY.quotas, ...change },
});
const concurrency = (unreserved: number): Partial<Facts> =>
  quotas({ concurrency: yes({ limit: 1000, unreserved }) });

export const ACCOUNT_ROWS: readonly Row[] = [
  ['no concurrency', concurrency(4), 'quota lambda', 'FAIL', 'L-B99A9384'],
  ['the concurrency of a new account', concurrency(10), 'quota lambda', 'WARN', 'up to 13'],
  ['little concurrency', concurrency(49), 'quota lambda', 'WARN', '49 of 1000'],
  ['enough concurrency', concurrency(50), 'quota lambda', 'OK', '50 of 1000'],
  ['few processors', quotas({ onDemandCpus: yes(32) }), 'quota on-demand', 'WARN', 'L-1216C47A'],
  ['processors', quotas({ onDemandCpus: yes(64) }), 'quota on-demand', 'OK', '64 vCPUs'],
  ['no spot, not wanted', quotas({ spotCpus: yes(0) }), 'quota spot', 'WARN', 'L-34B43A08'],
  [
    'no spot, wanted',
    { ...quotas({ spotCpus: yes(0) }), pools: [aPool('In', ['spot', 'on-demand'])] },
    'quota spot',
    'FAIL',
    'L-34B43A08',
  ],
  ['slow events', quotas({ putEventsPerSecond: yes(49) }), 'quota events', 'WARN', 'L-9B653E91'],
  ['events', quotas({ putEventsPerSecond: yes(600) }), 'quota events', 'OK', '600 PutEvents'],
  [
    'no room for rules',
    { ...NOT_DEPLOYED, ...quotas({ rules: yes({ limit: 100, used: 89 }) }) },
    'quota rules',
    'FAIL',
    'a stack needs 13 more',
  ],
  [
    'just room for rules',
    { ...NOT_DEPLOYED, ...quotas({ rules: yes({ limit: 100, used: 87 }) }) },
    'quota rules',
    'OK',
    '87 of 100',
  ],
  [
    'a full bus with the stack on it',
    quotas({ rules: yes({ limit: 100, used: 100 }) }),
    'quota rules',
    'OK',
    '100 of 100',
  ],
  [
    'no right to see quotas',
    quotas({ rules: unknown('AccessDenied: x') }),
    'quota rules',
    'WARN',
    'ask somebody',
  ],
  ['a spot role', {}, 'spot role', 'OK', 'is there'],
  ['no spot role', { spotRole: yes(false) }, 'spot role', 'WARN', 'create-service-linked-role'],
  [
    'no spot role, spot wanted',
    { spotRole: yes(false), pools: [aPool('In', ['spot'])] },
    'spot role',
    'FAIL',
    'create-service-linked-role',
  ],
  [
    'no spot role, spot not excluded',
    { spotRole: yes(false), pools: [aPool('NotIn', ['reserved'])] },
    'spot role',
    'FAIL',
    'create-service-linked-role',
  ],
  ...[aPool(), aPool('Exists')].map(
    (pool): Row => [
      'no spot role, capacity types left open',
      { spotRole: yes(false), pools: [pool] },
      'spot role',
      'FAIL',
      'create-service-linked-role',
    ],
  ),
  [
    'no spot role, on demand alone',
    { spotRole: yes(false), pools: [aPool('NotIn', ['spot'])] },
    'spot role',
    'WARN',
    'create-service-linked-role',
  ],
];
