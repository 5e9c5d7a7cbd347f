CREATE TABLE "coin_payments" (
	"network" text NOT NULL,
	"tx" text NOT NULL,
	"output" bigint NOT NULL,
	"id" text NOT NULL,
	"invoice" text,
	"address" text NOT NULL,
	"asset" text NOT NULL,
	"amount" text NOT NULL,
	"state" text NOT NULL,
	"block" bigint,
	"confirmations" bigint NOT NULL,
	"rate" bigint,
	"is_late" bigint NOT NULL,
	"value" bigint,
	"why" text,
	"seen" bigint NOT NULL,
	"credited" bigint,
	CONSTRAINT "coin_payments_network_tx_output_pk" PRIMARY KEY("network","tx","output"),
	CONSTRAINT "coin_payments_credit" CHECK (("coin_payments"."state" = 'credited') = ("coin_payments"."value" is not null))
);
--> statement-breakpoint
CREATE TABLE "invoices" (
	"id" text PRIMARY KEY NOT NULL,
	"account" text NOT NULL,
	"method" text NOT NULL,
	"network" text NOT NULL,
	"asset" text NOT NULL,
	"wallet" text NOT NULL,
	"path" bigint,
	"address" text NOT NULL,
	"reference" text,
	"amount" bigint NOT NULL,
	"due" text NOT NULL,
	"rate" bigint NOT NULL,
	"rate_source" text NOT NULL,
	"uri" text NOT NULL,
	"marked_by" text,
	"created" bigint NOT NULL,
	"expires" bigint NOT NULL,
	"watched_until" bigint NOT NULL,
	"poll_at" bigint NOT NULL,
	CONSTRAINT "invoices_amount" CHECK ("invoices"."amount" > 0)
);
--> statement-breakpoint
CREATE TABLE "coin_watchers" (
	"network" text PRIMARY KEY NOT NULL,
	"process" text NOT NULL,
	"lease_until" bigint NOT NULL,
	"cursor" text,
	"polled" bigint,
	"succeeded" bigint,
	"problem" text,
	"failures" bigint NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "coin_payments_id" ON "coin_payments" USING btree ("id");--> statement-breakpoint
CREATE INDEX "coin_payments_invoice" ON "coin_payments" USING btree ("invoice");--> statement-breakpoint
CREATE INDEX "coin_payments_credited" ON "coin_payments" USING btree ("credited");--> statement-breakpoint
CREATE INDEX "coin_payments_state" ON "coin_payments" USING btree ("state","seen");--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_path" ON "invoices" USING btree ("wallet","path") WHERE "invoices"."path" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_reference" ON "invoices" USING btree ("reference") WHERE "invoices"."reference" is not null;--> statement-breakpoint
CREATE INDEX "invoices_address" ON "invoices" USING btree ("address");--> statement-breakpoint
CREATE INDEX "invoices_account" ON "invoices" USING btree ("account","created");--> statement-breakpoint
CREATE INDEX "invoices_watched" ON "invoices" USING btree ("network","watched_until");--> statement-breakpoint
CREATE INDEX "invoices_created" ON "invoices" USING btree ("created");