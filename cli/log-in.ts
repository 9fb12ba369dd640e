/** What to do where AWS knows no caller. */
export const LOG_IN =
  'log in: aws sso login, or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
