import { PortError } from '../../shared/ports.ts';

/**
 * A port that the function's role may not use: every call of it is a fault of ours, told before AWS
 * would refuse it, and its adapter is not part of the function's bundle.
 */
export function forbiddenPort<Port extends object>(what: string): Port {
  return new Proxy({} as Port, {
    get: (_, member) => () => {
      const message = `${what}.${String(member)} is not for this function's role`;
      throw new PortError('unauthorised', 'NotThisFunction', message);
    },
  });
}
