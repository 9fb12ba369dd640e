import { Option } from 'commander';
import { EFFORTS } from '../shared/core/model/snapshot.ts';

/** How many steps go into cheaper plans. */
export type Effort = (typeof EFFORTS)[number];

/** The option `--effort` of commands that plan; without it the settings say. */
export function effortOption(): Option {
  return new Option('--effort <effort>', 'the steps that go into cheaper plans').choices(EFFORTS);
}
