import { sha256 } from './sha256.ts';

/** How the name of an instance profile ends that is made for a role, which may have a path. */
export function roleMark(role: string): string {
  return sha256(role.split('/').at(-1) ?? role).slice(0, 10);
}

const MADE_FOR_ROLE = /_[0-9a-f]{20}_([0-9a-f]{10})$/;

/** Whether nodes with the profile may have one of the roles: of others' profiles nobody knows. */
export function mayHaveRole(profile: string, roles: readonly string[]): boolean {
  const [, mark] = MADE_FOR_ROLE.exec(profile) ?? [];
  return mark === undefined || roles.some((role) => roleMark(role) === mark);
}
