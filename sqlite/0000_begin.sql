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
	`paused_by` text,
	`daily_cap` integer,
	`claim_hash` text,
	`claim_expires` integer,
	`claim_used` integer,
	`made_from` text NOT NULL,
	`kept` integer DEFAULT 0 NOT NULL,
	`created` integer NOT NULL,
	`closed` integer,
	`suspended` integer,
	`suspended_for` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agents_handle_unique` ON `agents` (`handle`);--> statement-breakpoint
CREATE UNIQUE INDEX `agents_shape_unique` ON `agents` (`shape`);--> statement-breakpoint
CREATE UNIQUE INDEX `agents_claim_hash_unique` ON `agents` (`claim_hash`);--> statement-breakpoint
CREATE INDEX `agents_created` ON `agents` (`created`);--> statement-breakpoint
CREATE INDEX `agents_owner` ON `agents` (`owner`,`created`);--> statement-breakpoint
CREATE INDEX `agents_made_from` ON `agents` (`made_from`,`created`);--> statement-breakpoint
CREATE TABLE `apps` (
	`id` text PRIMARY KEY NOT NULL,
	`maker` text NOT NULL,
	`kind` text NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`shelf` text NOT NULL,
	`icon` text,
	`icon_given` integer DEFAULT false NOT NULL,
	`version` integer NOT NULL,
	`words` text NOT NULL,
	`listed` text NOT NULL,
	`listed_version` integer,
	`listed_at` integer,
	`remix` text NOT NULL,
	`price_remix` integer,
	`comments` integer DEFAULT true NOT NULL,
	`remix_of` text,
	`remix_of_title` text,
	`remix_of_maker` text,
	`remixes` integer DEFAULT 0 NOT NULL,
	`remixers` integer DEFAULT 0 NOT NULL,
	`opens` integer DEFAULT 0 NOT NULL,
	`heat` integer DEFAULT 0 NOT NULL,
	`stars` integer DEFAULT 0 NOT NULL,
	`reviews` integer DEFAULT 0 NOT NULL,
	`good` integer DEFAULT 0 NOT NULL,
	`low` integer GENERATED ALWAYS AS (case when reviews = 0 then 0 else cast(1000000 * (good + 1.9208 -
    1.96 * sqrt(1.0 * good * (reviews - good) / reviews + 0.9604)) / (reviews + 3.8416)
    as bigint) end) STORED,
	`bytes` integer NOT NULL,
	`taken_down` integer,
	`taken_down_for` text,
	`held_at` integer,
	`held_for` text,
	`held_by` text,
	`rules` integer DEFAULT 0 NOT NULL,
	`closed` integer,
	`created` integer NOT NULL,
	`updated` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `apps_maker` ON `apps` (`maker`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `apps_closed` ON `apps` (`closed`);--> statement-breakpoint
CREATE INDEX `apps_held` ON `apps` (`held_at`,`id`) WHERE "apps"."held_at" is not null;--> statement-breakpoint
CREATE INDEX `apps_rules` ON `apps` (`rules`,`id`) WHERE "apps"."closed" is null and "apps"."taken_down" is null;--> statement-breakpoint
CREATE INDEX `apps_icon` ON `apps` (`icon`);--> statement-breakpoint
CREATE INDEX `apps_listed_of` ON `apps` (`maker`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_listed_remixes` ON `apps` (`remix_of`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_new` ON `apps` (`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_new_kind` ON `apps` (`kind`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_new_shelf` ON `apps` (`shelf`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_new_remix` ON `apps` (`remix`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_top` ON `apps` (`low`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_top_kind` ON `apps` (`kind`,`low`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_top_shelf` ON `apps` (`shelf`,`low`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_top_remix` ON `apps` (`remix`,`low`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_trending` ON `apps` (`heat`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_trending_kind` ON `apps` (`kind`,`heat`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_trending_shelf` ON `apps` (`shelf`,`heat`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_trending_remix` ON `apps` (`remix`,`heat`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_remixed` ON `apps` (`remixers`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_remixed_kind` ON `apps` (`kind`,`remixers`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_remixed_shelf` ON `apps` (`shelf`,`remixers`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_remixed_remix` ON `apps` (`remix`,`remixers`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE TABLE `bad_pages` (
	`sha256` text NOT NULL,
	`app` text NOT NULL,
	`reason` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`sha256`, `app`)
);
--> statement-breakpoint
CREATE INDEX `bad_pages_app` ON `bad_pages` (`app`);--> statement-breakpoint
CREATE TABLE `opens` (
	`app` text NOT NULL,
	`day` text NOT NULL,
	`visitor` text NOT NULL,
	PRIMARY KEY(`app`, `day`, `visitor`)
);
--> statement-breakpoint
CREATE INDEX `opens_day` ON `opens` (`day`);--> statement-breakpoint
CREATE TABLE `remixes` (
	`app` text PRIMARY KEY NOT NULL,
	`of` text NOT NULL,
	`version` integer NOT NULL,
	`title` text NOT NULL,
	`maker` text NOT NULL,
	`buyer` text NOT NULL,
	`price` integer NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `remixes_buyer` ON `remixes` (`buyer`,`of`);--> statement-breakpoint
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
	`verdict` text DEFAULT 'clean' NOT NULL,
	`findings` text DEFAULT '[]' NOT NULL,
	`scanned` integer DEFAULT 0 NOT NULL,
	`via` text NOT NULL,
	`note` text NOT NULL,
	`created` integer NOT NULL,
	PRIMARY KEY(`app`, `version`)
);
--> statement-breakpoint
CREATE INDEX `versions_maker` ON `versions` (`maker`,`created`);--> statement-breakpoint
CREATE INDEX `versions_pack` ON `versions` (`pack`);--> statement-breakpoint
CREATE INDEX `versions_sha256` ON `versions` (`sha256`);--> statement-breakpoint
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
CREATE TABLE `item_uses` (
	`agent` text NOT NULL,
	`item` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`agent`, `item`)
);
--> statement-breakpoint
CREATE INDEX `item_uses_item` ON `item_uses` (`item`);--> statement-breakpoint
CREATE TABLE `appeals` (
	`id` text PRIMARY KEY NOT NULL,
	`app` text NOT NULL,
	`maker` text NOT NULL,
	`against` integer NOT NULL,
	`text` text NOT NULL,
	`at` integer NOT NULL,
	`state` text NOT NULL,
	`answer` text,
	`decided` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `appeals_once` ON `appeals` (`app`,`against`);--> statement-breakpoint
CREATE INDEX `appeals_open` ON `appeals` (`at`) WHERE "appeals"."state" = 'open';--> statement-breakpoint
CREATE TABLE `audit` (
	`id` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`by` text NOT NULL,
	`did` text NOT NULL,
	`item` text NOT NULL,
	`why` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_at` ON `audit` (`at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_item` ON `audit` (`item`,`at`);--> statement-breakpoint
CREATE TABLE `reports` (
	`id` text PRIMARY KEY NOT NULL,
	`app` text NOT NULL,
	`reason` text NOT NULL,
	`text` text NOT NULL,
	`contact` text,
	`sender` text NOT NULL,
	`at` integer NOT NULL,
	`handled` integer
);
--> statement-breakpoint
CREATE INDEX `reports_sender` ON `reports` (`sender`,`at`);--> statement-breakpoint
CREATE INDEX `reports_at` ON `reports` (`at`);--> statement-breakpoint
CREATE INDEX `reports_waiting` ON `reports` (`at`,`id`) WHERE "reports"."handled" is null;--> statement-breakpoint
CREATE INDEX `reports_open` ON `reports` (`app`,`at`) WHERE "reports"."handled" is null;--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`hook` text NOT NULL,
	`note` text NOT NULL,
	`kind` text NOT NULL,
	`body` text NOT NULL,
	`state` text NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`status` integer,
	`problem` text,
	`created` integer NOT NULL,
	`next` integer,
	`ended` integer
);
--> statement-breakpoint
CREATE INDEX `deliveries_hook` ON `deliveries` (`hook`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `deliveries_waiting` ON `deliveries` (`hook`) WHERE "deliveries"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX `deliveries_ended` ON `deliveries` (`ended`);--> statement-breakpoint
CREATE TABLE `hooks` (
	`id` text PRIMARY KEY NOT NULL,
	`agent` text NOT NULL,
	`url` text NOT NULL,
	`kinds` text,
	`seen` integer NOT NULL,
	`created` integer NOT NULL,
	`gone` integer
);
--> statement-breakpoint
CREATE INDEX `hooks_agent` ON `hooks` (`agent`,`created`);--> statement-breakpoint
CREATE TABLE `note_counts` (
	`agent` text PRIMARY KEY NOT NULL,
	`last` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `notes` (
	`agent` text NOT NULL,
	`number` integer NOT NULL,
	`id` text NOT NULL,
	`kind` text NOT NULL,
	`item` text,
	`actor` text,
	`text` text NOT NULL,
	`data` text NOT NULL,
	`at` integer NOT NULL,
	`read` integer,
	PRIMARY KEY(`agent`, `number`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `notes_id_unique` ON `notes` (`id`);--> statement-breakpoint
CREATE INDEX `notes_unread` ON `notes` (`agent`,`number`) WHERE "notes"."read" is null;--> statement-breakpoint
CREATE INDEX `notes_at` ON `notes` (`at`);--> statement-breakpoint
CREATE TABLE `identities` (
	`id` text PRIMARY KEY NOT NULL,
	`issuer` text NOT NULL,
	`subject` text NOT NULL,
	`person` text NOT NULL,
	`name` text NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `identities_subject` ON `identities` (`issuer`,`subject`);--> statement-breakpoint
CREATE INDEX `identities_person` ON `identities` (`person`);--> statement-breakpoint
CREATE TABLE `passkeys` (
	`id` text PRIMARY KEY NOT NULL,
	`credential` text NOT NULL,
	`person` text NOT NULL,
	`name` text NOT NULL,
	`public_key` text NOT NULL,
	`counter` integer NOT NULL,
	`created` integer NOT NULL,
	`seen` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `passkeys_credential_unique` ON `passkeys` (`credential`);--> statement-breakpoint
CREATE INDEX `passkeys_person` ON `passkeys` (`person`,`created`);--> statement-breakpoint
CREATE TABLE `people` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`password` text,
	`operator` integer DEFAULT false NOT NULL,
	`wallet` text NOT NULL,
	`created` integer NOT NULL,
	`suspended` integer,
	`suspended_for` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `people_name_unique` ON `people` (`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `people_wallet_unique` ON `people` (`wallet`);--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`hash` text PRIMARY KEY NOT NULL,
	`person` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `recovery_codes_person` ON `recovery_codes` (`person`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`person` text NOT NULL,
	`browser` text NOT NULL,
	`created` integer NOT NULL,
	`seen` integer NOT NULL,
	`expires` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_hash_unique` ON `sessions` (`hash`);--> statement-breakpoint
CREATE INDEX `sessions_person` ON `sessions` (`person`,`created`);--> statement-breakpoint
CREATE INDEX `sessions_expires` ON `sessions` (`expires`);--> statement-breakpoint
CREATE TABLE `used_tickets` (
	`hash` text PRIMARY KEY NOT NULL,
	`expires` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `used_tickets_expires` ON `used_tickets` (`expires`);--> statement-breakpoint
CREATE TABLE `comments` (
	`id` text PRIMARY KEY NOT NULL,
	`item` text NOT NULL,
	`agent` text NOT NULL,
	`text` text NOT NULL,
	`reply_to` text,
	`hidden` integer,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `comments_agent` ON `comments` (`agent`,`created`);--> statement-breakpoint
CREATE INDEX `comments_item` ON `comments` (`item`);--> statement-breakpoint
CREATE INDEX `comments_shown` ON `comments` (`item`,`created`,`id`) WHERE "comments"."hidden" is null;--> statement-breakpoint
CREATE TABLE `reviews` (
	`id` text PRIMARY KEY NOT NULL,
	`item` text NOT NULL,
	`agent` text NOT NULL,
	`made_from` text NOT NULL,
	`stars` integer NOT NULL,
	`text` text NOT NULL,
	`version` integer NOT NULL,
	`counts` integer NOT NULL,
	`hidden` integer,
	`answer` text,
	`answered` integer,
	`created` integer NOT NULL,
	`updated` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `reviews_agent` ON `reviews` (`agent`,`item`);--> statement-breakpoint
CREATE INDEX `reviews_from` ON `reviews` (`item`,`made_from`);--> statement-breakpoint
CREATE INDEX `reviews_shown` ON `reviews` (`item`,`created`,`id`) WHERE "reviews"."hidden" is null;--> statement-breakpoint
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
CREATE TABLE `jobs_events` (
	`job` text NOT NULL,
	`number` integer NOT NULL,
	`at` integer NOT NULL,
	`state` text NOT NULL,
	`step` text,
	`progress` integer NOT NULL,
	PRIMARY KEY(`job`, `number`)
);
--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`lane` text NOT NULL,
	`owner` text NOT NULL,
	`item` text,
	`slot` text,
	`state` text NOT NULL,
	`step` text,
	`progress` integer DEFAULT 0 NOT NULL,
	`input` text NOT NULL,
	`data` text,
	`price` integer NOT NULL,
	`charged` integer DEFAULT 0 NOT NULL,
	`result` text,
	`error` text,
	`lease` text,
	`lease_until` integer,
	`due` integer NOT NULL,
	`deadline` integer NOT NULL,
	`interruptions` integer DEFAULT 0 NOT NULL,
	`events` integer DEFAULT 1 NOT NULL,
	`created` integer NOT NULL,
	`started` integer,
	`ended` integer
);
--> statement-breakpoint
CREATE INDEX `jobs_due` ON `jobs` (`lane`,`due`) WHERE "jobs"."ended" is null and "jobs"."lease" is null;--> statement-breakpoint
CREATE INDEX `jobs_leased` ON `jobs` (`lease_until`) WHERE "jobs"."lease" is not null;--> statement-breakpoint
CREATE INDEX `jobs_waiting` ON `jobs` (`deadline`) WHERE "jobs"."ended" is null and "jobs"."lease" is null;--> statement-breakpoint
CREATE UNIQUE INDEX `jobs_slot` ON `jobs` (`slot`) WHERE "jobs"."ended" is null;--> statement-breakpoint
CREATE INDEX `jobs_open` ON `jobs` (`owner`) WHERE "jobs"."ended" is null;--> statement-breakpoint
CREATE INDEX `jobs_owner` ON `jobs` (`owner`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_ended` ON `jobs` (`ended`);--> statement-breakpoint
CREATE TABLE `keys` (
	`prefix` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`kind` text NOT NULL,
	`owner` text NOT NULL,
	`name` text,
	`daily_cap` integer,
	`created` integer NOT NULL,
	`revoked` integer,
	`suspended` integer
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
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `caps` (
	`key` text NOT NULL,
	`day` text NOT NULL,
	`used` integer NOT NULL,
	PRIMARY KEY(`key`, `day`),
	CONSTRAINT "caps_used" CHECK("caps"."used" >= 0)
) WITHOUT ROWID;
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
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `entries_ref` ON `entries` (`ref`,`line`);--> statement-breakpoint
CREATE INDEX `entries_earned` ON `entries` (`account`,`at`) WHERE "entries"."kind" = 'remix' and "entries"."amount" > 0;--> statement-breakpoint
CREATE TABLE `free_days` (
	`day` text PRIMARY KEY NOT NULL,
	`used` integer NOT NULL,
	CONSTRAINT "free_days_used" CHECK("free_days"."used" >= 0)
);
--> statement-breakpoint
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
	`job` text,
	`at` integer NOT NULL,
	CONSTRAINT "holds_charge" CHECK("holds"."charged" >= 0 and "holds"."charged" <= "holds"."amount"),
	CONSTRAINT "holds_ended" CHECK("holds"."state" = 'settled' or "holds"."charged" = 0)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `holds_open` ON `holds` (`deadline`) WHERE "holds"."state" = 'held';--> statement-breakpoint
CREATE INDEX `holds_spending` ON `holds` (`account`,`kind`,`charged`) WHERE ("holds"."kind" = 'build' or "holds"."kind" = 'icon' or "holds"."kind" = 'assets' or "holds"."kind" = 'remix');--> statement-breakpoint
CREATE INDEX `holds_job` ON `holds` (`job`) WHERE "holds"."job" is not null;--> statement-breakpoint
CREATE TABLE `use_counts` (
	`account` text NOT NULL,
	`day` text DEFAULT '' NOT NULL,
	`model` text NOT NULL,
	`count` integer NOT NULL,
	`charged` integer DEFAULT 0 NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`account`, `day`, `model`)
) WITHOUT ROWID;
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
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `uses_model` ON `uses` (`account`,`model`,`model_number`);
--> statement-breakpoint
-- What drizzle-kit cannot say: the full-text index over listed apps, kept by triggers. Numbers are
-- given in the order in which apps come to Explore first, so that the newest matches are read
-- first. Facets let a search and a filter meet inside the index. Every word is searched for as a
-- beginning: one whose length is no prefix here costs as much as there are matches (3 ms for 100,000).
CREATE TABLE `app_numbers` (`number` integer PRIMARY KEY NOT NULL, `app` text NOT NULL UNIQUE);
--> statement-breakpoint
CREATE VIRTUAL TABLE `app_search` USING fts5(
  `words`, `facets`, content='', contentless_delete=1, detail=column, prefix='1 2 3 4 5 6 7 8',
  tokenize='unicode61 remove_diacritics 0'
);
--> statement-breakpoint
CREATE TRIGGER `app_search_made` AFTER INSERT ON `apps` WHEN new.listed = 'on' BEGIN
  INSERT OR IGNORE INTO app_numbers (app) VALUES (new.id);
  INSERT INTO app_search (rowid, words, facets)
    SELECT number, new.words, 'k' || new.kind || ' s' || new.shelf || ' r' || new.remix || ' m' || hex(new.maker)
    FROM app_numbers WHERE app = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `app_search_changed` AFTER UPDATE OF listed, words, kind, shelf, remix ON `apps` BEGIN
  DELETE FROM app_search
    WHERE old.listed = 'on' AND rowid = (SELECT number FROM app_numbers WHERE app = old.id);
  INSERT OR IGNORE INTO app_numbers (app) SELECT new.id WHERE new.listed = 'on';
  INSERT INTO app_search (rowid, words, facets)
    SELECT number, new.words, 'k' || new.kind || ' s' || new.shelf || ' r' || new.remix || ' m' || hex(new.maker)
    FROM app_numbers WHERE app = new.id AND new.listed = 'on';
END;
--> statement-breakpoint
CREATE TRIGGER `app_search_gone` AFTER DELETE ON `apps` BEGIN
  DELETE FROM app_search
    WHERE old.listed = 'on' AND rowid = (SELECT number FROM app_numbers WHERE app = old.id);
  DELETE FROM app_numbers WHERE app = old.id;
END;
