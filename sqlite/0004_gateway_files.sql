CREATE TABLE `gateway_files` (
	`id` text PRIMARY KEY NOT NULL,
	`account` text NOT NULL,
	`filename` text NOT NULL,
	`purpose` text NOT NULL,
	`kind` text NOT NULL,
	`type` text NOT NULL,
	`bytes` integer NOT NULL,
	`sha256` text NOT NULL,
	`words_sha256` text,
	`words` integer,
	`pages` integer,
	`lasts_ms` integer,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `gateway_files_account` ON `gateway_files` (`account`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `gateway_files_sha256` ON `gateway_files` (`sha256`);--> statement-breakpoint
CREATE INDEX `gateway_files_words_sha256` ON `gateway_files` (`words_sha256`);