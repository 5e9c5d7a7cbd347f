CREATE TABLE `app_uploads` (
	`app` text NOT NULL,
	`name` text NOT NULL,
	`author` text NOT NULL,
	`type` text NOT NULL,
	`bytes` integer NOT NULL,
	`sha256` text NOT NULL,
	`created` integer NOT NULL,
	PRIMARY KEY(`app`, `name`)
);
--> statement-breakpoint
CREATE INDEX `app_uploads_author` ON `app_uploads` (`app`,`author`);--> statement-breakpoint
CREATE INDEX `app_uploads_sha256` ON `app_uploads` (`sha256`);