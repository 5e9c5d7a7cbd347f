CREATE TABLE "gateway_batch_results" (
	"batch" text NOT NULL,
	"line" bigint NOT NULL,
	"is_error" boolean NOT NULL,
	"bytes" bigint NOT NULL,
	"result" text NOT NULL,
	CONSTRAINT "gateway_batch_results_batch_line_pk" PRIMARY KEY("batch","line")
);
--> statement-breakpoint
CREATE TABLE "gateway_batches" (
	"id" text PRIMARY KEY NOT NULL,
	"account" text NOT NULL,
	"owner" text NOT NULL,
	"key" text NOT NULL,
	"endpoint" text NOT NULL,
	"input_file" text NOT NULL,
	"metadata" text,
	"status" text NOT NULL,
	"total" bigint DEFAULT 0 NOT NULL,
	"completed" bigint DEFAULT 0 NOT NULL,
	"failed" bigint DEFAULT 0 NOT NULL,
	"errors" text,
	"output_file" text,
	"error_file" text,
	"created" bigint NOT NULL,
	"started" bigint,
	"cancelling" bigint,
	"ended" bigint,
	"expires" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "gateway_batches_account" ON "gateway_batches" USING btree ("account","created","id");--> statement-breakpoint
CREATE INDEX "gateway_batches_ended" ON "gateway_batches" USING btree ("ended");