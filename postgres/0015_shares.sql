CREATE TABLE "used_transfers" (
	"network" text NOT NULL,
	"tx" text NOT NULL,
	"log" bigint NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "used_transfers_network_tx_log_pk" PRIMARY KEY("network","tx","log")
);
--> statement-breakpoint
ALTER TABLE "pack_records" ADD COLUMN "share_paid" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "pack_records" ADD COLUMN "share_overdue" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "pack_records" ADD COLUMN "share_verified" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "pack_records" ADD COLUMN "share_unlinked" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "pack_records" ADD COLUMN "share_mismatch" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "pack_records" ADD COLUMN "share_no_proof" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "pack_records" ADD COLUMN "share_unreadable" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "share" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "share_due" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "share_verdict" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "payment" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "due_by" bigint;--> statement-breakpoint
ALTER TABLE "x402_payments" ADD COLUMN "run" text;--> statement-breakpoint
CREATE INDEX "runs_due" ON "runs" USING btree ("due_by") WHERE "runs"."state" = 'share_due';--> statement-breakpoint
CREATE INDEX "x402_payments_hash" ON "x402_payments" USING btree ("hash");