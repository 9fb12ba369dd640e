/** The app of the package, `infra/app.js` there: it has no rules to check, which the checkout does. */
import { deploy } from './stacks.ts';

deploy();
