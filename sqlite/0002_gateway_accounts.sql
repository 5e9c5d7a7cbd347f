CREATE TABLE `gateway_accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`made_from` text NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `gateway_accounts_made_from` ON `gateway_accounts` (`made_from`,`created`);