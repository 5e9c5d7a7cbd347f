CREATE TABLE `used_transfers` (
	`network` text NOT NULL,
	`tx` text NOT NULL,
	`log` integer NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`network`, `tx`, `log`)
);
--> statement-breakpoint
ALTER TABLE `pack_records` ADD `share_paid` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `pack_records` ADD `share_overdue` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `pack_records` ADD `share_verified` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `pack_records` ADD `share_unlinked` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `pack_records` ADD `share_mismatch` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `pack_records` ADD `share_no_proof` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `pack_records` ADD `share_unreadable` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `runs` ADD `share` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `share_due` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `share_verdict` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `payment` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `due_by` integer;--> statement-breakpoint
CREATE INDEX `runs_due` ON `runs` (`due_by`) WHERE "runs"."state" = 'share_due';--> statement-breakpoint
ALTER TABLE `x402_payments` ADD `run` text;--> statement-breakpoint
CREATE INDEX `x402_payments_hash` ON `x402_payments` (`hash`);