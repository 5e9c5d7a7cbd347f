CREATE TABLE `authorization_codes` (
	`hash` text PRIMARY KEY NOT NULL,
	`client` text NOT NULL,
	`client_name` text NOT NULL,
	`redirect_uri` text NOT NULL,
	`challenge` text NOT NULL,
	`person` text NOT NULL,
	`agent` text NOT NULL,
	`scopes` text NOT NULL,
	`expires` integer NOT NULL,
	`connector` text
);
--> statement-breakpoint
CREATE INDEX `authorization_codes_person` ON `authorization_codes` (`person`);--> statement-breakpoint
CREATE INDEX `authorization_codes_expires` ON `authorization_codes` (`expires`);--> statement-breakpoint
CREATE TABLE `connectors` (
	`id` text PRIMARY KEY NOT NULL,
	`person` text NOT NULL,
	`agent` text NOT NULL,
	`client` text NOT NULL,
	`client_name` text NOT NULL,
	`scopes` text NOT NULL,
	`token` text NOT NULL,
	`family_hash` text NOT NULL,
	`refresh_hash` text NOT NULL,
	`previous_hash` text,
	`created` integer NOT NULL,
	`used` integer NOT NULL,
	`expires` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `connectors_token_unique` ON `connectors` (`token`);--> statement-breakpoint
CREATE UNIQUE INDEX `connectors_family_hash_unique` ON `connectors` (`family_hash`);--> statement-breakpoint
CREATE INDEX `connectors_person` ON `connectors` (`person`,`created`);--> statement-breakpoint
CREATE INDEX `connectors_agent` ON `connectors` (`agent`);--> statement-breakpoint
CREATE INDEX `connectors_expires` ON `connectors` (`expires`);--> statement-breakpoint
CREATE TABLE `oauth_clients` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`redirect_uris` text NOT NULL,
	`created` integer NOT NULL,
	`used` integer
);
--> statement-breakpoint
CREATE INDEX `oauth_clients_used` ON `oauth_clients` (`used`,`created`);--> statement-breakpoint
ALTER TABLE `keys` ADD `scopes` text;