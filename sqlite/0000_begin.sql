CREATE TABLE `gateway_accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`made_from` text NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `gateway_accounts_made_from` ON `gateway_accounts` (`made_from`,`created`);--> statement-breakpoint
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
CREATE INDEX `gateway_files_words_sha256` ON `gateway_files` (`words_sha256`);--> statement-breakpoint
CREATE TABLE `gateway_made` (
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`sha256` text NOT NULL,
	`expires` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `gateway_made_sha256` ON `gateway_made` (`sha256`);--> statement-breakpoint
CREATE INDEX `gateway_made_expires` ON `gateway_made` (`expires`,`id`);--> statement-breakpoint
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
CREATE INDEX `apps_listed` ON `apps` (`created`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_listed_of` ON `apps` (`maker`,`created`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_closed` ON `apps` (`closed`);--> statement-breakpoint
CREATE TABLE `bad_pages` (
	`sha256` text PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `opens` (
	`app` text NOT NULL,
	`day` text NOT NULL,
	`visitor` text NOT NULL,
	PRIMARY KEY(`app`, `day`, `visitor`)
);
--> statement-breakpoint
CREATE INDEX `opens_day` ON `opens` (`day`);--> statement-breakpoint
CREATE TABLE `reports` (
	`id` text PRIMARY KEY NOT NULL,
	`app` text NOT NULL,
	`reason` text NOT NULL,
	`text` text NOT NULL,
	`sender` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `reports_sender` ON `reports` (`sender`,`at`);--> statement-breakpoint
CREATE INDEX `reports_at` ON `reports` (`at`);--> statement-breakpoint
CREATE TABLE `versions` (
	`app` text NOT NULL,
	`version` integer NOT NULL,
	`maker` text NOT NULL,
	`sha256` text NOT NULL,
	`pack` text NOT NULL,
	`html_bytes` integer NOT NULL,
	`gzip_bytes` integer NOT NULL,
	`br_bytes` integer NOT NULL,
	`br_level` integer DEFAULT 5 NOT NULL,
	`asks` text NOT NULL,
	`via` text NOT NULL,
	`note` text NOT NULL,
	`created` integer NOT NULL,
	PRIMARY KEY(`app`, `version`)
);
--> statement-breakpoint
CREATE INDEX `versions_maker` ON `versions` (`maker`,`created`);--> statement-breakpoint
CREATE INDEX `versions_pack` ON `versions` (`pack`);--> statement-breakpoint
CREATE INDEX `versions_unpolished` ON `versions` (`created`) WHERE "versions"."br_level" = 5;--> statement-breakpoint
CREATE TABLE `assets` (
	`app` text NOT NULL,
	`version` integer NOT NULL,
	`name` text NOT NULL,
	`sha256` text NOT NULL,
	`type` text NOT NULL,
	`kind` text NOT NULL,
	`bytes` integer NOT NULL,
	`width` integer,
	`height` integer,
	`lasts_ms` integer,
	`what` text,
	`seed` integer,
	`maker` text NOT NULL,
	`created` integer NOT NULL,
	PRIMARY KEY(`app`, `version`, `name`)
);
--> statement-breakpoint
CREATE INDEX `assets_sha256` ON `assets` (`sha256`,`app`);--> statement-breakpoint
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
CREATE INDEX `keys_owner` ON `keys` (`owner`,`created`);--> statement-breakpoint
CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`balance` integer DEFAULT 0 NOT NULL,
	`free` integer DEFAULT 0 NOT NULL,
	`earned` integer DEFAULT 0 NOT NULL,
	`held` integer DEFAULT 0 NOT NULL,
	`paid_held` integer DEFAULT 0 NOT NULL,
	`last_free` integer DEFAULT 0 NOT NULL,
	`entries` integer DEFAULT 0 NOT NULL,
	`at` integer NOT NULL,
	CONSTRAINT "accounts_covered" CHECK("accounts"."kind" = 'house' or "accounts"."held" <= "accounts"."balance"),
	CONSTRAINT "accounts_free" CHECK("accounts"."kind" = 'house' or "accounts"."free" >= 0),
	CONSTRAINT "accounts_earned" CHECK("accounts"."earned" >= 0),
	CONSTRAINT "accounts_colours" CHECK("accounts"."kind" = 'house' or "accounts"."free" + "accounts"."earned" <= "accounts"."balance"),
	CONSTRAINT "accounts_held" CHECK("accounts"."paid_held" >= 0 and "accounts"."paid_held" <= "accounts"."held"),
	CONSTRAINT "accounts_paid" CHECK("accounts"."kind" = 'house' or "accounts"."paid_held" <= "accounts"."balance" - "accounts"."free")
);
--> statement-breakpoint
CREATE TABLE `caps` (
	`key` text NOT NULL,
	`day` text NOT NULL,
	`used` integer NOT NULL,
	PRIMARY KEY(`key`, `day`),
	CONSTRAINT "caps_used" CHECK("caps"."used" >= 0)
);
--> statement-breakpoint
CREATE TABLE `entries` (
	`account` text NOT NULL,
	`number` integer NOT NULL,
	`ref` text NOT NULL,
	`line` integer NOT NULL,
	`kind` text NOT NULL,
	`item` text,
	`amount` integer NOT NULL,
	`balance` integer NOT NULL,
	`free` integer NOT NULL,
	`earned` integer NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`account`, `number`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `entries_ref` ON `entries` (`ref`,`line`);--> statement-breakpoint
CREATE TABLE `holds` (
	`ref` text PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`account` text NOT NULL,
	`kind` text NOT NULL,
	`item` text,
	`amount` integer NOT NULL,
	`charged` integer DEFAULT 0 NOT NULL,
	`state` text NOT NULL,
	`funds` text NOT NULL,
	`parts` text NOT NULL,
	`price` text,
	`cap_key` text,
	`cap_day` text,
	`on_expiry` text NOT NULL,
	`deadline` integer NOT NULL,
	`process` text NOT NULL,
	`at` integer NOT NULL,
	CONSTRAINT "holds_charge" CHECK("holds"."charged" >= 0 and "holds"."charged" <= "holds"."amount"),
	CONSTRAINT "holds_ended" CHECK("holds"."state" = 'settled' or "holds"."charged" = 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `holds_id_unique` ON `holds` (`id`);--> statement-breakpoint
CREATE INDEX `holds_open` ON `holds` (`deadline`) WHERE "holds"."state" = 'held';--> statement-breakpoint
CREATE INDEX `holds_spending` ON `holds` (`account`,`kind`,`charged`) WHERE "holds"."kind" in ('build', 'icon', 'assets', 'remix');--> statement-breakpoint
CREATE TABLE `use_counts` (
	`account` text NOT NULL,
	`model` text NOT NULL,
	`count` integer NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`account`, `model`)
);
--> statement-breakpoint
CREATE TABLE `uses` (
	`account` text NOT NULL,
	`number` integer NOT NULL,
	`model` text NOT NULL,
	`model_number` integer NOT NULL,
	`id` text NOT NULL,
	`request_id` text NOT NULL,
	`at` integer NOT NULL,
	`type` text NOT NULL,
	`source` text NOT NULL,
	`status` text NOT NULL,
	`upstream` text,
	`price` text,
	`input` integer NOT NULL,
	`cached` integer NOT NULL,
	`output` integer NOT NULL,
	`reasoning` integer NOT NULL,
	`searches` integer NOT NULL,
	`estimated` integer NOT NULL,
	`charged` integer NOT NULL,
	`held` integer NOT NULL,
	`ms` integer NOT NULL,
	`first_byte_ms` integer,
	PRIMARY KEY(`account`, `number`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `uses_model` ON `uses` (`account`,`model`,`model_number`);