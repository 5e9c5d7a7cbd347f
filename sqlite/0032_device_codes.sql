CREATE TABLE `device_codes` (
	`hash` text PRIMARY KEY NOT NULL,
	`user_hash` text NOT NULL,
	`client` text NOT NULL,
	`expires` integer NOT NULL,
	`agent` text,
	`person` text,
	`denied` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `device_codes_user_hash_unique` ON `device_codes` (`user_hash`);--> statement-breakpoint
CREATE INDEX `device_codes_expires` ON `device_codes` (`expires`);