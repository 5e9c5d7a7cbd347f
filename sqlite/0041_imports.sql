CREATE TABLE `imports` (
	`archive` text NOT NULL,
	`server` text NOT NULL,
	`origin` text NOT NULL,
	`local` text NOT NULL,
	`ledger` text,
	`at` integer NOT NULL,
	PRIMARY KEY(`archive`, `origin`)
);
--> statement-breakpoint
CREATE INDEX `imports_origin` ON `imports` (`server`,`origin`);--> statement-breakpoint
CREATE INDEX `imports_local` ON `imports` (`local`);--> statement-breakpoint
CREATE INDEX `imports_ledger` ON `imports` (`ledger`);