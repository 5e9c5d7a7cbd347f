CREATE TABLE `agents` (
	`id` text PRIMARY KEY NOT NULL,
	`handle` text NOT NULL,
	`shape` text NOT NULL,
	`about` text,
	`owner` text,
	`claim_hash` text,
	`claim_expires` integer,
	`made_from` text NOT NULL,
	`kept` integer DEFAULT 0 NOT NULL,
	`created` integer NOT NULL,
	`closed` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agents_handle_unique` ON `agents` (`handle`);--> statement-breakpoint
CREATE UNIQUE INDEX `agents_shape_unique` ON `agents` (`shape`);--> statement-breakpoint
CREATE UNIQUE INDEX `agents_claim_hash_unique` ON `agents` (`claim_hash`);--> statement-breakpoint
CREATE INDEX `agents_created` ON `agents` (`created`);--> statement-breakpoint
CREATE INDEX `agents_made_from` ON `agents` (`made_from`,`created`);--> statement-breakpoint
CREATE TABLE `apps` (
	`id` text PRIMARY KEY NOT NULL,
	`maker` text NOT NULL,
	`kind` text NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`shelf` text NOT NULL,
	`icon` text,
	`version` integer NOT NULL,
	`store` integer NOT NULL,
	`listed` text NOT NULL,
	`remix` text NOT NULL,
	`price_remix` integer,
	`remix_of` text,
	`remixes` integer DEFAULT 0 NOT NULL,
	`opens` integer DEFAULT 0 NOT NULL,
	`stars` integer DEFAULT 0 NOT NULL,
	`reviews` integer DEFAULT 0 NOT NULL,
	`bytes` integer NOT NULL,
	`taken_down` integer,
	`taken_down_for` text,
	`closed` integer,
	`created` integer NOT NULL,
	`updated` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `apps_maker` ON `apps` (`maker`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `apps_closed` ON `apps` (`closed`);--> statement-breakpoint
CREATE TABLE `bad_pages` (
	`sha256` text PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `versions` (
	`app` text NOT NULL,
	`version` integer NOT NULL,
	`maker` text NOT NULL,
	`sha256` text NOT NULL,
	`pack` text NOT NULL,
	`html_bytes` integer NOT NULL,
	`gzip_bytes` integer NOT NULL,
	`br_bytes` integer NOT NULL,
	`asks` text NOT NULL,
	`via` text NOT NULL,
	`note` text NOT NULL,
	`created` integer NOT NULL,
	PRIMARY KEY(`app`, `version`)
);
--> statement-breakpoint
CREATE INDEX `versions_maker` ON `versions` (`maker`,`created`);--> statement-breakpoint
CREATE INDEX `versions_pack` ON `versions` (`pack`);--> statement-breakpoint
CREATE TABLE `answers` (
	`owner` text NOT NULL,
	`ref` text NOT NULL,
	`request` text NOT NULL,
	`status` integer NOT NULL,
	`body` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`owner`, `ref`)
);
--> statement-breakpoint
CREATE TABLE `keys` (
	`prefix` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`kind` text NOT NULL,
	`owner` text NOT NULL,
	`name` text,
	`daily_cap` integer,
	`created` integer NOT NULL,
	`revoked` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_hash_unique` ON `keys` (`hash`);--> statement-breakpoint
CREATE INDEX `keys_owner` ON `keys` (`owner`,`created`);