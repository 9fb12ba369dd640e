import { meant } from '../shared/contract/nearest.ts';
import { GATE_NAMES } from '../shared/contract/setting-kinds.ts';

/** What is wrong with `Name=true,Name=false` on a command line; undefined: nothing. */
export function gatesFault(text: string): string | undefined {
  const names: readonly string[] = GATE_NAMES;
  for (const entry of text.split(',')) {
    const [name = '', value] = entry.split('=');
    if (!names.includes(name)) {
      return `"${name}" is no feature gate${meant(name, names)}; valid: ${names.join(', ')}`;
    }
    if (value !== 'true' && value !== 'false') {
      return `${name} must be true or false, as in ${name}=true`;
    }
  }
  return undefined;
}
