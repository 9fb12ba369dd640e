import type { Manifest } from '../manifests.ts';

/** What people should know of the objects before they read the result. */
export function remarksOn(
  _used: readonly Manifest[],
  _place: 'simulated' | 'live',
): readonly string[] {
  return [];
}
