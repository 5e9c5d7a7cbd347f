CREATE TABLE `coin_payments` (
	`network` text NOT NULL,
	`tx` text NOT NULL,
	`output` integer NOT NULL,
	`id` text NOT NULL,
	`invoice` text,
	`address` text NOT NULL,
	`asset` text NOT NULL,
	`amount` text NOT NULL,
	`state` text NOT NULL,
	`block` integer,
	`confirmations` integer NOT NULL,
	`rate` integer,
	`is_late` integer NOT NULL,
	`value` integer,
	`why` text,
	`seen` integer NOT NULL,
	`credited` integer,
	PRIMARY KEY(`network`, `tx`, `output`),
	CONSTRAINT "coin_payments_credit" CHECK(("coin_payments"."state" = 'credited') = ("coin_payments"."value" is not null))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `coin_payments_id` ON `coin_payments` (`id`);--> statement-breakpoint
CREATE INDEX `coin_payments_invoice` ON `coin_payments` (`invoice`);--> statement-breakpoint
CREATE INDEX `coin_payments_credited` ON `coin_payments` (`credited`);--> statement-breakpoint
CREATE INDEX `coin_payments_state` ON `coin_payments` (`state`,`seen`);--> statement-breakpoint
CREATE TABLE `invoices` (
	`id` text PRIMARY KEY NOT NULL,
	`account` text NOT NULL,
	`method` text NOT NULL,
	`network` text NOT NULL,
	`asset` text NOT NULL,
	`wallet` text NOT NULL,
	`path` integer,
	`address` text NOT NULL,
	`reference` text,
	`amount` integer NOT NULL,
	`due` text NOT NULL,
	`rate` integer NOT NULL,
	`rate_source` text NOT NULL,
	`uri` text NOT NULL,
	`marked_by` text,
	`created` integer NOT NULL,
	`expires` integer NOT NULL,
	`watched_until` integer NOT NULL,
	`poll_at` integer NOT NULL,
	CONSTRAINT "invoices_amount" CHECK("invoices"."amount" > 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_path` ON `invoices` (`wallet`,`path`) WHERE "invoices"."path" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_reference` ON `invoices` (`reference`) WHERE "invoices"."reference" is not null;--> statement-breakpoint
CREATE INDEX `invoices_address` ON `invoices` (`address`);--> statement-breakpoint
CREATE INDEX `invoices_account` ON `invoices` (`account`,`created`);--> statement-breakpoint
CREATE INDEX `invoices_watched` ON `invoices` (`network`,`watched_until`);--> statement-breakpoint
CREATE INDEX `invoices_created` ON `invoices` (`created`);--> statement-breakpoint
CREATE TABLE `coin_watchers` (
	`network` text PRIMARY KEY NOT NULL,
	`process` text NOT NULL,
	`lease_until` integer NOT NULL,
	`cursor` text,
	`polled` integer,
	`succeeded` integer,
	`problem` text,
	`failures` integer NOT NULL
);
