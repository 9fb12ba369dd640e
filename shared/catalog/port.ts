import { currencyOf } from '../core/model/currency.ts';
import type { Catalog as CatalogPort } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import type { Catalog } from './facts.ts';
import { instanceTypesFor } from './instance-types.ts';
import {
  DEFAULT_LAUNCH_ENVIRONMENT,
  type LaunchEnvironment,
  launchSettingsOf,
} from './node-class-settings.ts';

/**
 * Instance types for the use cases, from whatever catalog and environment hold at the time of the
 * call. Rejects when the class cannot be read, naming every field that is wrong.
 */
export function catalogPort(
  region: string,
  current: () => Catalog,
  environment: () => LaunchEnvironment = () => DEFAULT_LAUNCH_ENVIRONMENT,
): CatalogPort {
  return {
    region,
    get source() {
      const { source, date, spotDate } = current();
      const currency = currencyOf(region);
      const unit = currency === 'USD' ? '' : ` in ${currency}`;
      return `${region}: on-demand prices${unit} of ${date}, spot prices of ${spotDate} (${source})`;
    },
    async instanceTypes(nodeClass) {
      const settings = launchSettingsOf(nodeClass, environment());
      if (settings.ok) return instanceTypesFor(current(), settings.value);
      const issues = settings.issues.map(({ path, message }) => `${path}: ${message}`);
      const message = `EC2NodeClass ${nodeClass.name}: ${issues.join('; ')}`;
      throw new PortError('invalid', 'InvalidKubeletConfiguration', message);
    },
  };
}
